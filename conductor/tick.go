package conductor

import (
	"context"
	"math/rand/v2"
	"time"
)

// lookForTicks is how long a schedule that another process has added may go
// unnoticed.
const lookForTicks = 5 * time.Second

// tick posts the jobs of schedules until ctx ends, whether there are slots free for
// them or not.
func (c *Conductor) tick(ctx context.Context) {
	for tries := 0; ; {
		posted, wait, err := c.board.Tick(ctx)
		if ctx.Err() != nil {
			return
		}
		for _, id := range posted {
			c.log.Debug("a schedule posts a job", "job", id)
		}
		if wait == 0 || wait > lookForTicks {
			wait = lookForTicks
		}
		tries++
		if err == nil {
			tries = 0
		} else { // perhaps of one schedule only: then the others still tick in time
			wait = min(wait, outage.Jittered(tries, rand.Float64())) //nolint:gosec // only spreads waits
			c.log.Error("schedules cannot be looked after; it is tried again", "in", wait, "error", err)
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}
