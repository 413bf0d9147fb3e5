package conductor

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/hashicorp/go-hclog"
)

// lookForTicks is how often a conductor checks for schedules that other processes added.
//
//limit:scheduling poll for schedules of other processes | each {} | –
const lookForTicks = 5 * time.Second

// tick posts the jobs of schedules until ctx ends, whether or not slots are free.
func (c *Conductor) tick(ctx context.Context) {
	for tries := 0; ; {
		posted, wait, err := c.board.Tick(ctx)
		if ctx.Err() != nil {
			return
		}
		for _, id := range posted {
			c.log.Debug(logevent.SchedulePosted, "job", id)
		}
		if wait == 0 || wait > lookForTicks {
			wait = lookForTicks
		}
		tries++
		if err == nil {
			tries = 0
		} else { // in case this is an error of only one schedule: the others must still tick in time
			wait = min(wait, outage.Jittered(tries, rand.Float64())) //nolint:gosec // only spreads waits
			c.log.Log(backend.LevelOf(err, hclog.Error), logevent.ScheduleFailed,
				"retry_in", logevent.Duration(wait), "error", err)
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
