package doctor

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// A Reason is why one run or job stands still, as `ebb why` says it.
type Reason struct {
	Says string // sentences; "" if it does not stand still any more
	Do   string // what lets it go on
}

// ReasonOfRun returns why a run stands still. Errors are the store's.
func ReasonOfRun(ctx context.Context, store backend.Store, id string, now time.Time) (r Reason, err error) {
	run, err := store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) { // it was pruned meanwhile
		return r, nil
	}
	if err != nil {
		return r, err
	}
	w, err := inspect.Diagnose(ctx, store, run)
	if err != nil {
		return r, err
	}
	r.Says = view.Hindrance(w, now)
	var ways []string
	waits := w.Waits(now)
	for _, wake := range w.Wakes(waits) {
		if wake.By == "command" || wake.By == "other" {
			ways = append(ways, wake.Command)
		}
	}
	r.Do = strings.Join(ways, ", or ")
	if len(waits) > 0 {
		r.start(&waits[0])
	}
	return r, nil
}

// start adds which program to start, if no command says it.
func (r *Reason) start(one *inspect.Wait) {
	if r.Do == "" && one.Kind == inspect.WaitsForProcess {
		r.Do = "start the program that has the flow " + visible.Line(one.Flow)
	}
}

// ReasonOfJob returns why a job stands still. Errors are the store's.
func ReasonOfJob(ctx context.Context, store backend.Store, id string, now time.Time) (r Reason, err error) {
	job, err := store.Job(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	waits, err := inspect.NewJobWaits(ctx, store)
	if err != nil {
		return r, err
	}
	if one, err := waits.Of(ctx, &job, now); err != nil || one != nil {
		if err != nil {
			return r, err
		}
		r = Reason{view.JobWait(one, now), one.Way()}
		r.start(&one.Wait)
	}
	return r, nil
}
