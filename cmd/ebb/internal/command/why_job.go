package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// whyJob says what a job waits for whose run does not exist yet, or why a schedule posts no job. If there is neither,
// it returns none, the error of looking for the run.
func (s subcommands) whyJob(ctx context.Context, store backend.Store, id string, none error) error {
	if e, is := errors.AsType[*exit.Error](none); !is || e.Status != exit.NotFound {
		return none
	}
	job, err := store.Job(ctx, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return s.whySchedule(ctx, store, id, none)
	case err == nil && job.State.Ended():
		return none
	case err != nil:
		return exit.DatabaseError(err)
	}
	waits, err := inspect.NewJobWaits(ctx, store)
	if err != nil {
		return exit.DatabaseError(err)
	}
	now := store.Now()
	one, err := waits.Of(ctx, &job, now)
	if err != nil {
		return exit.DatabaseError(err)
	}
	if s.JSON() {
		out := inspect.JobOf(&job)
		out.Waiting(one, now)
		return view.NewJSON(s.Out).Encode(out)
	}
	if one == nil { // its run was purged
		return none
	}
	_, err = fmt.Fprintf(s.Out, "Job %s of flow %s is %v, and has no run yet.\n%s\n", visible.Line(job.ID),
		visible.Line(job.Flow), job.State, view.JobWait(one, now))
	if way := one.Way(); way != "" && err == nil {
		_, err = fmt.Fprintln(s.Out, "It continues with:", way)
	}
	return err
}

// whySchedule says why a schedule posts no job now. If there is no such schedule, it returns none.
func (s subcommands) whySchedule(ctx context.Context, store backend.Store, id string, none error) error {
	is, err := store.Schedule(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return none
	}
	if err != nil {
		return exit.DatabaseError(err)
	}
	now := store.Now().Local() //nolint:gosmopolitan // the user's own zone is meant
	one, err := inspect.WhySchedule(ctx, store, &is, now)
	if err != nil {
		return exit.DatabaseError(err)
	}
	if s.JSON() {
		return view.NewJSON(s.Out).Encode(struct {
			inspect.Schedule

			Why string `json:"why"`
		}{inspect.ScheduleOf(&is), one.Says})
	}
	_, err = fmt.Fprintf(s.Out, "Schedule %s posts jobs of flow %s.\n%s\n", visible.Line(is.ID), visible.Line(is.Flow),
		one.Says)
	if one.Way != "" && err == nil {
		_, err = fmt.Fprintln(s.Out, "It continues with:", one.Way)
	}
	return err
}
