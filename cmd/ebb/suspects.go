package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// setAside reports whether a run was suspended because it kills the processes that drive it,
// or needs more memory than they have.
func setAside(run *storage.Run) bool {
	return run.Hold && run.Failure != nil && (run.Failure.Code == atom.CodeLost || run.Failure.Code == atom.CodeLimit)
}

// suspicion says what the deaths of processes mean for a run; nothing when they mean nothing.
func (w *diagnosis) suspicion(now time.Time) []string {
	run := &w.run
	s := &run.Suspicion
	switch {
	case setAside(run):
		return []string{fmt.Sprintf("It was set aside: %s (%s).", run.Failure.Message, run.Failure.Code)}
	case run.State.Ended() || !run.Suspect(now):
		return nil
	case s.Trial&storage.OnTrial != 0:
		return []string{fmt.Sprintf("It is on trial, as %s.", deaths(run))}
	case s.Trial&storage.Accused != 0:
		return []string{fmt.Sprintf("It is tried alone when it is driven next, as %s.", deaths(run))}
	default:
		return []string{fmt.Sprintf("It is tried when it is driven next, as %s.", deaths(run))}
	}
}

// deaths says who died with a run.
func deaths(run *storage.Run) string {
	s := &run.Suspicion
	return fmt.Sprintf("%d processes died that drove it, the last of them (%s) before %s",
		run.Lost, s.By, s.Died.UTC().Format(time.RFC3339))
}

// deaths finds runs that kill the processes that drive them, or may.
func (d *doctor) deaths(ctx context.Context, store storage.Store, now time.Time, _ int) error {
	held, err := store.Runs(ctx, storage.RunQuery{States: []states.Flow{states.FlowSuspended, states.FlowPending}, Limit: lookAt})
	if err != nil {
		return err
	}
	var aside []*storage.Run
	for i := range held {
		if setAside(&held[i]) {
			aside = append(aside, &held[i])
		}
	}
	if len(aside) > 0 {
		d.findf("set aside", isWarning, "ebb why says more; mend what it does or give it more memory, then ebb resume or ebb cancel",
			"%s kill the processes that drive them, or need more memory than those have, such as %s: %s", enough(len(aside)), aside[0].ID, aside[0].Failure.Message)
	}
	running, err := store.Runs(ctx, storage.RunQuery{States: []states.Flow{states.FlowRunning, states.FlowPending}, Limit: lookAt})
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
		d.findf("suspects", isWarning, "nothing: ebb serve finds the cause; look into its log, and at the memory that it has",
			"processes die, and it is tried whether one of %s runs is why, such as %s: %s", enough(len(suspects)), suspects[0].ID, deaths(suspects[0]))
	}
	return nil
}
