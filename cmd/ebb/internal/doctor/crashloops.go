package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// setAside finds runs that were set aside, because they kill the processes that drive them, or may.
func (d *doctor) setAside(ctx context.Context, store backend.Store, _ time.Time) error {
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
	return nil
}

// crashLoops reports how many runs may kill the processes that drive them, and names one.
func (d *doctor) crashLoops(ctx context.Context, store backend.Store, st *sqlstore.Status) error {
	if st.CrashLoops == 0 {
		d.findf("crash loops", OK, "", "no run")
		return nil
	}
	running, err := store.Runs(ctx, storage.RunQuery{
		States: []states.Flow{states.FlowRunning, states.FlowPending},
		Limit:  lookAt,
	})
	if err != nil {
		return err
	}
	example := ""
	if i := slices.IndexFunc(running, func(r storage.Run) bool { return backend.MayKillProcesses(&r, st.At) }); i >= 0 {
		example = fmt.Sprintf(", such as %s: %s", running[i].ID, inspect.DeathsText(&running[i]))
	}
	d.findf("crash loops", Warning, "nothing: ebb serve finds the cause; look into its log, and at the memory that it has",
		"processes die, and it is tried whether one of %s is why%s", runCount(st.CrashLoops), example)
	return nil
}
