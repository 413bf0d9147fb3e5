package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// whyJob says what a job waits for whose run does not exist yet. If there is no such job, it returns none, the error of
// looking for the run.
func (s subcommands) whyJob(ctx context.Context, store storage.Store, id string, none error) error {
	if e, is := errors.AsType[*exit.Error](none); !is || e.Status != exit.NotFound {
		return none
	}
	job, err := store.Job(ctx, id)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && job.State.Ended():
		return none
	case err != nil:
		return exit.DatabaseError(err)
	case s.JSON():
		return view.NewJSON(s.Out).Encode(inspect.JobOf(&job))
	}
	text, err := waitOfJob(ctx, store, &job)
	if err != nil {
		return exit.DatabaseError(err)
	}
	_, err = fmt.Fprintf(s.Out, "Job %s of flow %s is %v, and has no run yet. %s\n", visible.Line(job.ID),
		visible.Line(job.Flow), job.State, text)
	return err
}

// waitOfJob says what a job waits for that has not ended.
func waitOfJob(ctx context.Context, store storage.Store, job *storage.Job) (string, error) {
	switch job.State {
	case states.JobClaimed:
		return "A process has claimed it, and begins its run.", nil
	case states.JobScheduled:
		return fmt.Sprintf("It may be claimed from %s on.", job.NotUntil.UTC().Format(time.RFC3339)), nil
	case states.JobParked:
		why := ""
		if job.Failure != nil {
			why = ": " + view.Cause(job.Failure)
		}
		return fmt.Sprintf("It was set aside%s. To make it claimable again: ebb jobs release %s", why,
			visible.Word(job.ID)), nil
	default:
	}
	since := job.Created.UTC().Format(time.RFC3339)
	unoffered, err := inspect.Unoffered(ctx, store, []storage.Job{*job})
	if err != nil || len(unoffered) == 0 || len(job.Labels) == 0 {
		return fmt.Sprintf("It waits since %s for a process to claim it, such as ebb serve.", since), err
	}
	var needs []string
	for _, key := range slices.Sorted(maps.Keys(job.Labels)) {
		needs = append(needs, visible.Word(key+"="+job.Labels[key]))
	}
	return fmt.Sprintf("It waits since %s: no process offers what it needs. To claim it: ebb serve --offer %s", since,
		strings.Join(needs, " --offer ")), nil
}
