package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine"
)

// TestLinesNameTheDay: a time that is not of the same day has its date.
func TestLinesNameTheDay(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.Local) //nolint:gosmopolitan // as the lines are
	for _, c := range []struct {
		due  time.Time
		want string
	}{{at.Add(time.Hour), " until 13:00:00\n"}, {at.AddDate(4, 0, 0), " until 2030-11-29 12:00:00\n"}} {
		var out bytes.Buffer
		NewLines(&out, nil).Happened(engine.Event{Kind: engine.AtomChanged, Path: "Pay", To: "RETRYING", Time: at, Due: c.due})
		if !strings.HasSuffix(out.String(), c.want) {
			t.Errorf("it says %q, want %q", &out, c.want)
		}
	}
}
