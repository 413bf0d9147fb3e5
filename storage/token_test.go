package storage_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// TestTokenDue: the first limit to pass counts; what counts from a taking does not
// before there is one, unless workers have no part in it.
func TestTokenDue(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	const second = time.Second
	for name, c := range map[string]struct {
		token storage.Token
		limit storage.TokenLimit
		due   time.Time
	}{
		"none":         {storage.Token{Beat: at(1)}, storage.NoLimit, time.Time{}},
		"deadline":     {storage.Token{Deadline: at(9), Heartbeat: 9 * second, Beat: at(1)}, storage.ScheduleToClose, at(9)},
		"heartbeat":    {storage.Token{Deadline: at(11), Heartbeat: 9 * second, Beat: at(1)}, storage.HeartbeatLimit, at(10)},
		"untaken":      {storage.Token{Queue: "q", Since: at(1), ScheduleToStart: 5 * second, StartToClose: second, Heartbeat: second}, storage.ScheduleToStart, at(6)},
		"for long":     {storage.Token{Queue: "q", Since: at(1), Beat: at(1), StartToClose: second, Heartbeat: second}, storage.NoLimit, time.Time{}},
		"taken":        {storage.Token{Queue: "q", Since: at(7), Take: 1, ScheduleToStart: second, StartToClose: 5 * second}, storage.StartToClose, at(12)},
		"taken, heard": {storage.Token{Queue: "q", Since: at(7), Beat: at(8), Take: 2, StartToClose: 5 * second, Heartbeat: 3 * second}, storage.HeartbeatLimit, at(11)},
		"both":         {storage.Token{Queue: "q", Since: at(1), ScheduleToStart: 5 * second, Deadline: at(3)}, storage.ScheduleToClose, at(3)},
	} {
		if limit, due := c.token.Due(); limit != c.limit || !due.Equal(c.due) {
			t.Errorf("%s: %v at %v, want %v at %v", name, limit, due, c.limit, c.due)
		}
	}
}
