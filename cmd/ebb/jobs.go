package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) jobsCommand() *cobra.Command {
	var all bool
	var limit int
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List the jobs on the board, and decide about those that are parked",
		Long: `List the jobs on the board in the order in which they are claimed: those that have
not ended, or with --all also those that have.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.jobs(cmd.Context(), all, limit) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "also those that have ended")
	cmd.Flags().IntVar(&limit, "limit", 100, "how many at most; 0 is all")
	cmd.AddCommand(
		s.jobCommand("release JOB", "Put a job back on the board that is parked, or waits for its time",
			func(ctx context.Context, b *jobs.Board, id string) error { return b.Release(ctx, id) }),
		s.jobCommand("cancel JOB", "End a job that nobody has claimed",
			func(ctx context.Context, b *jobs.Board, id string) error {
				return b.Cancel(ctx, id, "cancelled with ebb jobs")
			}),
	)
	return cmd
}

// jobCommand is a command that changes one job and shows it.
func (s *session) jobCommand(use, short string, change func(context.Context, *jobs.Board, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.withStore(cmd.Context(), func(store storage.Store) error {
				ctx, id := cmd.Context(), args[0]
				err := change(ctx, jobs.New(store, jobs.Policy{}), id)
				if err != nil && !errors.Is(err, jobs.ErrRefused) {
					return noJob(err, id)
				}
				job, found := store.Job(ctx, id)
				switch {
				case found != nil:
					return unreachable(found)
				case err != nil && job.State == states.JobClaimed && job.ClaimID == "":
					return usagef("job %s is the run %s; send your commands to that (ebb cancel, ebb retry)", id, job.Run)
				case err != nil:
					return usagef("job %s is %v, which does not allow it", id, job.State)
				}
				return s.showJob(&job)
			})
		},
	}
}

func noJob(err error, id string) error {
	if errors.Is(err, jobs.ErrNotFound) {
		return &statusError{status: exitNotFound, err: fmt.Errorf("there is no job %s (ebb jobs --all lists those there are)", id)}
	}
	return unreachable(err)
}

func (s *session) jobs(ctx context.Context, all bool, limit int) error {
	q := storage.JobQuery{Limit: limit}
	if !all {
		q.States = []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked}
	}
	return listing(ctx, s, func(store storage.Store) ([]storage.Job, error) { return store.JobList(ctx, q) }, s.showJob)
}

// jobJSON is a job as programs read it.
type jobJSON struct {
	ID       string            `json:"job"`
	Run      string            `json:"run"`
	Flow     string            `json:"flow"`
	Version  int64             `json:"version,omitzero"`
	State    string            `json:"state"`
	Priority int               `json:"priority"`
	Needs    map[string]string `json:"needs,omitzero"`
	Labels   map[string]string `json:"labels,omitzero"`
	NotUntil time.Time         `json:"not_until,omitzero"`
	Created  time.Time         `json:"created"`
	Ended    time.Time         `json:"ended,omitzero"`
	Attempts int               `json:"attempts,omitzero"`
	Error    string            `json:"error,omitzero"`
	Cause    string            `json:"cause,omitzero"`
}

// showJob prints a job on a line.
func (s *session) showJob(j *storage.Job) error {
	out := jobJSON{
		ID: j.ID, Run: j.Run, Flow: j.Flow, Version: j.Version, State: j.State.String(), Priority: j.Priority, Needs: j.Labels,
		Labels: j.RunLabels, NotUntil: j.NotUntil, Created: j.Created, Ended: j.Ended, Attempts: j.Attempts,
	}
	if j.Failure != nil {
		out.Error, out.Cause = j.Failure.Code, j.Failure.Message
	}
	if s.output == asJSON {
		return view.NewJSON(s.out).Encode(out)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", visible.Line(j.ID), out.State, visible.Line(j.Flow))
	if j.Version > 0 {
		fmt.Fprintf(&b, "@%d", j.Version)
	}
	if j.Run != j.ID {
		fmt.Fprintf(&b, " run %s", visible.Line(j.Run))
	}
	if j.State == states.JobScheduled {
		fmt.Fprintf(&b, " until %s", j.NotUntil.UTC().Format(time.RFC3339))
	}
	if out.Error != "" {
		fmt.Fprintf(&b, " %s: %s", visible.Line(out.Error), visible.Line(out.Cause))
	}
	_, err := fmt.Fprintln(s.out, b.String())
	return err
}
