package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/doctor"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// topRuns is how many runs ebb top shows of each kind.
const topRuns = 20

func (s subcommands) topCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Watch what the processes of a database do",
		Long: `Show every two seconds how many runs there are, what waits, and the runs that need a person
or are in progress, newest first, until Ctrl-C. If output is no terminal, ebb top shows this once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.JSON() {
				return exit.Usagef("ebb top has no JSON: use ebb doctor -o json and ebb list -o json")
			}
			show := func(ctx context.Context) error {
				return s.Reading(ctx, func(store *sqlstore.Store) error { return s.top(ctx, store) })
			}
			if s.Out.Terminal() == nil {
				return show(cmd.Context())
			}
			return s.watch(cmd.Context(), show)
		},
	}
}

// top shows one frame.
func (s subcommands) top(ctx context.Context, store *sqlstore.Store) error {
	st, err := store.Status(ctx)
	if err != nil {
		return exit.DatabaseError(err)
	}
	fmt.Fprintf(s.Out, "%s  %s  processes: %d\n", visible.Line(redact.URL(s.DSN)), view.Clock(st.At, time.TimeOnly),
		st.Processes)
	fmt.Fprintf(s.Out, "runs: %s\n", view.Counts(st))
	if text := inspect.JobTotals(st.Jobs, st.At); text != "" {
		fmt.Fprintf(s.Out, "jobs: %s\n", text)
	}
	ill, err := doctor.Ill(ctx, store)
	if err != nil {
		return exit.DatabaseError(err)
	}
	for _, says := range ill {
		fmt.Fprintf(s.Out, "database: %s\n", visible.Line(says))
	}
	now := store.Now()
	for _, wait := range []struct {
		found *sqlstore.Found
		what  string
		why   func(context.Context, backend.Store, string, time.Time) (doctor.Reason, error)
	}{
		{&st.NeedPerson, "runs need a person", doctor.ReasonOfRun},
		{&st.Undriven, "runs are due, and no process drives them", doctor.ReasonOfRun},
		{&st.Limited, "runs wait for their place under a limit", doctor.ReasonOfRun},
		{&st.Unclaimed, "jobs wait to be claimed", doctor.ReasonOfJob},
		{&st.ParkedJobs, "jobs are parked", doctor.ReasonOfJob},
		{&st.Parked, "messages are parked", nil},
		{&st.Late, "schedules are late", nil},
	} {
		if wait.found.Count == 0 {
			continue
		}
		text := fmt.Sprintf("%s: %d, such as %s", wait.what, wait.found.Count, visible.Line(wait.found.ID))
		if wait.why != nil {
			why, err := wait.why(ctx, store, wait.found.ID, now)
			if err != nil {
				return exit.DatabaseError(err)
			}
			if why.Says != "" {
				text += ". " + why.Says
			}
		}
		fmt.Fprintln(s.Out, text)
	}
	fmt.Fprintln(s.Out)
	query := storage.RunQuery{Stuck: true, Limit: topRuns}
	stuck, err := store.Runs(ctx, query)
	if err == nil {
		stuck, err = withRefused(ctx, store, &query, stuck)
	}
	if err != nil {
		return exit.DatabaseError(err)
	}
	open := []states.Flow{states.FlowPending, states.FlowRunning, states.FlowSuspending, states.FlowResuming}
	runs, err := store.Runs(ctx, storage.RunQuery{States: open, Top: true, Limit: topRuns})
	if err != nil {
		return exit.DatabaseError(err)
	}
	runs = slices.DeleteFunc(runs, func(r storage.Run) bool {
		return slices.ContainsFunc(stuck, func(o storage.Run) bool { return o.ID == r.ID })
	})
	if runs = slices.Concat(stuck, runs); len(runs) == 0 {
		_, err := fmt.Fprintln(s.Out, "no run is in progress")
		return err
	}
	return s.writeRuns(ctx, store, runs)
}
