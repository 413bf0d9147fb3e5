package liveness_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/liveness"
)

// TestClock: the clock is that of the process as long as the server's does not differ from it by more than the
// Tolerance; otherwise it is the server's, also between two answers of the server.
func TestClock(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		ahead []time.Duration // of the server, at each of its answers
		want  time.Duration
	}{
		{[]time.Duration{0}, 0},
		{[]time.Duration{liveness.Tolerance / 2}, 0},
		{[]time.Duration{time.Hour}, time.Hour},
		{[]time.Duration{-time.Hour}, -time.Hour},
		{[]time.Duration{time.Hour, time.Hour + liveness.Tolerance/2}, time.Hour}, // no jumps for nothing
		{[]time.Duration{time.Hour, time.Minute}, time.Minute},
		{[]time.Duration{time.Hour, time.Millisecond}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &liveness.Watch{Lease: time.Minute}
			for _, ahead := range tc.ahead {
				now := time.Now()
				w.Tells(now, now, now.Add(ahead).UnixMicro())
				w.Clock()
				time.Sleep(time.Second)
			}
			if got := time.Until(w.Clock()); got != tc.want {
				t.Errorf("after answers that are %v ahead, it is %v ahead; want %v", tc.ahead, got, tc.want)
			}
		})
	}
}
