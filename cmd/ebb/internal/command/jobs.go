package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) jobsCommand() *cobra.Command {
	var f jobsFlags
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "List the jobs on the board, and release or cancel them",
		Long: `List the jobs on the board that have not ended, in the order in which they are
claimed, after how many there are of each state. With --all, also list ended jobs, all in the
order in which they were posted. If there are more, the flag for the next page is printed on
standard error.`,
		Example: `  ebb jobs
  ebb jobs --state PARKED`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.jobs(cmd.Context(), &f) },
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "also list ended jobs")
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "only jobs in one of these states, such as UNCLAIMED,PARKED")
	cmd.Flags().IntVar(&f.limit, "limit", 100, "maximum number of jobs; 0 means all")
	cmd.Flags().StringVar(&f.after, "after", "", "only jobs after this one, or after the place which a list has named")
	cmd.AddCommand(
		s.jobCommand("release JOB", "Make a parked or scheduled job claimable now",
			func(ctx context.Context, b *jobs.Board, id string) error { return b.Release(ctx, id) }),
		s.jobCommand("cancel JOB", "End a job that no process has claimed",
			func(ctx context.Context, b *jobs.Board, id string) error {
				return b.Cancel(ctx, id, "cancelled with ebb jobs")
			}),
	)
	return cmd
}

// jobCommand returns a command that changes one job and shows it.
func (s subcommands) jobCommand(use, short string,
	change func(context.Context, *jobs.Board, string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.WithExisting(cmd.Context(), func(store *sqlstore.Store) error {
				ctx, id := cmd.Context(), args[0]
				err := change(s.Audited(ctx, cmd.Name(), "job "+id), jobs.New(store, jobs.Policy{}), id)
				if err != nil && !errors.Is(err, jobs.ErrRefused) {
					return noJob(err, id)
				}
				s.Done = err == nil
				job, found := store.Job(ctx, id)
				switch {
				case found != nil:
					return exit.DatabaseError(found)
				case err != nil && job.State == states.JobClaimed && job.ClaimID == "":
					return exit.Usagef("job %s is bound to the run %s; send commands to the run (ebb cancel, ebb retry)", id, job.Run)
				case err != nil:
					return exit.Usagef("job %s is %v, which does not allow the command", id, job.State)
				}
				return s.showJob(&job)
			})
		},
	}
}

func noJob(err error, id string) error {
	if errors.Is(err, storage.ErrNotFound) {
		return &exit.Error{Status: exit.NotFound, Err: fmt.Errorf("there is no job %s (ebb jobs --all lists all jobs)",
			id)}
	}
	return exit.DatabaseError(err)
}

// jobsFlags are the flags of ebb jobs.
type jobsFlags struct {
	all    bool
	states []string
	limit  int
	after  string
}

func (s subcommands) jobs(ctx context.Context, f *jobsFlags) error {
	of, err := inspect.ParseJobStates(f.states, f.all)
	switch {
	case err != nil:
		return exit.Usagef("--%s", strings.TrimPrefix(err.Error(), storage.ErrInvalid.Error()+": "))
	case f.limit < 0:
		return exit.Usagef("--limit %d: want 0 for all, or more", f.limit)
	}
	return s.Reading(ctx, func(store *sqlstore.Store) error {
		if f.after == "" && !s.JSON() {
			counts, err := store.JobCounts(ctx)
			if err != nil {
				return exit.DatabaseError(err)
			}
			if text := inspect.JobTotals(counts, store.Now()); text != "" {
				fmt.Fprintln(s.Out, text)
			}
		}
		after := f.after
		for listed := 0; ; {
			limit := listedAtOnce // a board may be larger than memory
			if f.limit > 0 {
				limit = min(limit, f.limit-listed)
			}
			page, next, err := inspect.JobPage(ctx, store, of, after, limit)
			switch {
			case errors.Is(err, storage.ErrNotFound):
				return noJob(err, after)
			case err != nil:
				return exit.DatabaseError(err)
			}
			if listed += len(page); listed == 0 && !s.JSON() {
				_, err := fmt.Fprintln(s.Out, "no jobs")
				return err
			}
			if err := s.writeJobs(ctx, store, page); err != nil || next == "" {
				return err
			}
			if after = next; listed == f.limit {
				s.Noticef("there are more: --after %s", next)
				return nil
			}
		}
	})
}

// writeJobs writes a table, or an object a line.
func (s subcommands) writeJobs(ctx context.Context, store *sqlstore.Store, page []storage.Job) error {
	at, err := placeOf(ctx, store)
	if err != nil {
		return err
	}
	waits, err := inspect.NewJobWaits(ctx, store)
	if err != nil {
		return exit.DatabaseError(err)
	}
	rows, now := make([][]string, len(page)), store.Now()
	for i := range page {
		one, err := waits.Of(ctx, &page[i], now)
		if err != nil {
			return exit.DatabaseError(err)
		}
		if s.JSON() {
			out := inspect.JobOf(&page[i])
			out.Waiting(one, now)
			err = view.NewJSON(s.Out).Encode(out)
		} else {
			rows[i], err = at.jobColumns(ctx, &page[i], one, now)
		}
		if err != nil {
			return exit.DatabaseError(err)
		}
	}
	if s.JSON() {
		return nil
	}
	return writeTable(s.Out, jobHeads, rows)
}

var jobHeads = []string{"JOB", "STATE", "FLOW", "AGE", "RUN", "OWNER", "STEP", "DETAIL"}

// jobColumns returns the columns of a job in the table. A claimed job has a run, unless that run is just being created.
func (p *place) jobColumns(
	ctx context.Context, j *storage.Job, one *inspect.JobWait, now time.Time,
) ([]string, error) {
	owner, step, id := "", "", ""
	if j.State == states.JobClaimed {
		run, err := p.store.Run(ctx, j.Run)
		if err == nil {
			owner = p.owner(&run)
			step, err = p.step(ctx, &run)
		}
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
	}
	if j.Run != j.ID {
		id = visible.Line(j.Run)
	}
	detail := jobDetail(j)
	if one != nil {
		detail = view.JobWait(one, now)
	}
	return []string{
		visible.Line(j.ID), j.State.String(), flowVersion(j), age(j.Created, now), id, owner, step, detail,
	}, nil
}

// flowVersion returns the flow of a job, with the version that it names.
func flowVersion(j *storage.Job) string {
	if j.Version == 0 {
		return visible.Line(j.Flow)
	}
	return fmt.Sprintf("%s@%d", visible.Line(j.Flow), j.Version)
}

// jobDetail returns until when a job waits, and why it failed.
func jobDetail(j *storage.Job) string {
	var parts []string
	if j.State == states.JobScheduled {
		parts = append(parts, "until "+j.NotUntil.UTC().Format(time.RFC3339))
	}
	if j.Failure != nil && j.Failure.Code != "" {
		parts = append(parts, visible.Line(j.Failure.Code)+": "+visible.Line(j.Failure.Message))
	}
	return strings.Join(parts, " ")
}

// showJob prints a job on a line.
func (s subcommands) showJob(j *storage.Job) error { return s.showPosted(j, false) }

// showPosted prints a job on a line, and whether a job with its id was there before.
func (s subcommands) showPosted(j *storage.Job, existed bool) error {
	out := inspect.JobOf(j)
	out.Existed = existed
	text := visible.Line(j.ID) + " " + out.State + " " + flowVersion(j)
	if j.Run != j.ID {
		text += " run " + visible.Line(j.Run)
	}
	if existed {
		text += " (posted before)"
	}
	return s.Emit(out, "%s", strings.TrimRight(text+" "+jobDetail(j), " "))
}
