package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// postFlags are the flags of ebb post.
type postFlags struct {
	jobFlags

	id     string
	after  string
	trace  string
	unique string
}

func (s subcommands) postCommand() *cobra.Command {
	var f postFlags
	cmd := &cobra.Command{
		Use:   "post FILE|FLOW[@VERSION]",
		Short: "Post a job: a request for a run",
		Long: `Post a job. A process that serves the database (ebb serve) creates its run. FILE is
stored first. FLOW is the name of a stored definition; without a version, the newest.
The run has the job's id. If a job with that id, flow and input exists, it is not
posted again. With another flow or input the id is refused.`,
		Example: `  ebb post trip.asl.json --input '{"to": "Rome"}' --id trip-7
  ebb post trip --after 2h --priority 5 --needs gpu=a100`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.post(cmd.Context(), args[0], &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "id of the job and of its run (default the flow's name and a random end)")
	flags.StringVar(&f.after, "after", "",
		"earliest start: a time such as 2026-11-30T08:00:00Z, or a duration from now such as 90m")
	flags.StringVar(&f.unique, "unique", "",
		"text that at most one open job has: if there is one, show it and post nothing")
	f.addFlags(flags)
	traceFlag(flags, &f.trace)
	return cmd
}

func (s subcommands) post(ctx context.Context, text string, f *postFlags) error {
	job, what, err := s.job(text, &f.jobFlags)
	if err != nil {
		return err
	}
	if job.Trace, err = traceparent(f.trace); err != nil {
		return err
	}
	if _, err := parseAfter(f.after, time.Time{}); err != nil { // before the definition is stored
		return err
	}
	job.Unique = f.unique
	run := runFlags{id: f.id}
	if job.ID, err = run.runID(job.Flow); err != nil {
		return err
	}
	return s.withFlow(ctx, what, func(store *sqlstore.Store) error {
		if job.Version, err = what.store(ctx, store); err != nil {
			return err
		}
		now, err := jobs.New(store, jobs.Policy{}).Now(ctx)
		if err == nil {
			job.NotBefore, err = parseAfter(f.after, now)
		}
		if err != nil {
			return exit.DatabaseError(err)
		}
		return s.postJob(ctx, store, "post", job, f.id == "")
	})
}

// postJob posts a job, and shows it. If the id was drawn, the job must be new.
func (s subcommands) postJob(ctx context.Context, store backend.Store, verb string, job jobs.Job, drawn bool) error {
	id, isNew, err := jobs.New(store, jobs.Policy{}).PostNew(s.Audited(ctx, verb, "job "+job.ID), job)
	if err == nil && drawn && !isNew && id == job.ID {
		err = fmt.Errorf("%w: job %q", storage.ErrExists, id)
	}
	if err != nil {
		return exit.DatabaseError(err)
	}
	s.Done = true
	job.ID = id
	posted, err := store.Job(ctx, job.ID)
	if err != nil { // what is known of it
		posted = storage.Job{ID: job.ID, Run: job.ID, Flow: job.Flow, Version: job.Version, State: states.JobUnclaimed}
	}
	return errors.Join(s.showPosted(&posted, !isNew), exit.DatabaseError(err))
}

// parseAfter parses the time of a flag: a time, or a duration from now.
func parseAfter(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, exit.Usagef("--after %s: want a time such as 2026-11-30T08:00:00Z, or a duration such as 90m", text)
	}
	return at, nil
}
