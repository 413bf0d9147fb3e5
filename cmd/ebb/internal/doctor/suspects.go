package doctor

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// deaths finds runs that kill the processes that drive them, or may.
func (d *doctor) deaths(ctx context.Context, store storage.Store, now time.Time) error {
	held, err := store.Runs(ctx, storage.RunQuery{
		States: []states.Flow{states.FlowSuspended, states.FlowPending},
		Limit:  lookAt,
	})
	if err != nil {
		return err
	}
	var aside []*storage.Run
	for i := range held {
		if inspect.SetAside(&held[i]) {
			aside = append(aside, &held[i])
		}
	}
	if len(aside) > 0 {
		d.findf("set aside", Warning,
			"ebb why says more; mend what it does or give it more memory, then ebb resume or ebb cancel",
			"%s kill the processes that drive them, or need more memory than those have, such as %s: %s", enough(len(aside)),
			aside[0].ID, aside[0].Failure.Message)
	}
	running, err := store.Runs(ctx, storage.RunQuery{
		States: []states.Flow{states.FlowRunning, states.FlowPending},
		Limit:  lookAt,
	})
	if err != nil {
		return err
	}
	var suspects []*storage.Run
	for i := range running {
		if running[i].Suspect(now) {
			suspects = append(suspects, &running[i])
		}
	}
	if len(suspects) > 0 {
		d.findf("suspects", Warning, "nothing: ebb serve finds the cause; look into its log, and at the memory that it has",
			"processes die, and it is tried whether one of %s runs is why, such as %s: %s", enough(len(suspects)),
			suspects[0].ID, inspect.DeathsText(suspects[0]))
	}
	return nil
}
