package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) showCommand() *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show what a run did and what was undone",
		Example: `  ebb show trip-k3v9x2ab
  ebb show --state Pay trip-k3v9x2ab`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.Reading(ctx, func(store *sqlstore.Store) error {
				if state != "" {
					return s.showState(ctx, store, args[0], state)
				}
				return s.show(ctx, store, args[0])
			})
		},
	}
	cmd.Flags().StringVar(&state, "state", "",
		"show each visit of this state, or this path: input, attempts, result, variables, output")
	return cmd
}

func (s subcommands) show(ctx context.Context, store backend.Store, id string) error {
	run, err := session.FindRun(ctx, store, id)
	if err != nil {
		return err
	}
	messages, err := inspect.UnsentOf(ctx, store, id)
	if err != nil {
		return exit.DatabaseError(err)
	}
	if s.JSON() {
		return s.showJSON(ctx, store, &run, messages)
	}
	m := machineOf(ctx, store, &run)
	t, err := inspect.Recorded(ctx, store, &run, tracerOf(m))
	if err != nil {
		return exit.DatabaseError(err)
	}
	for _, line := range view.Tree(t, store.Now(), s.Page()) {
		fmt.Fprintln(s.Out, line)
	}
	if t.Partial {
		fmt.Fprintf(s.Out, "not all steps are shown; all of them: ebb show -o json %s\n", visible.Word(id))
	}
	if run.Bytes >= view.Mebibyte {
		fmt.Fprintf(s.Out, "it has written %s\n", view.Written(&run))
	}
	if run.Key != "" && !run.State.Ended() {
		fmt.Fprintf(s.Out, "it holds the key %s\n", visible.Line(run.Key))
	}
	for i := range messages {
		if messages[i].Parked {
			fmt.Fprintln(s.Out, view.Unsent(&messages[i], store.Now()))
		}
	}
	if run.State.Ended() {
		undo, err := inspect.UndoOf(ctx, store, &run)
		if err != nil {
			return exit.DatabaseError(err)
		}
		view.End(s.Out, &run, &undo, s.Page())
		if err := view.Values(ctx, s.Out, store, &run); err != nil {
			return exit.DatabaseError(err)
		}
		if run.Undo == storage.UndoFailed {
			left, err := inspect.LeftToUndo(ctx, store, &run, t, inspect.MaxShownOfGroup+1)
			if err != nil {
				return exit.DatabaseError(err)
			}
			fmt.Fprint(s.Out, view.Left(left))
			fmt.Fprintln(s.Out, view.MendHint(&run, t.StuckAt()))
		}
		return nil
	}
	w, err := diagnosisOf(ctx, store, run)
	if err != nil {
		return err
	}
	for _, line := range view.Standing(w, store.Now()) {
		fmt.Fprintln(s.Out, line)
	}
	return nil
}

// isExecution reports whether a run is an execution of Amazon SWF, which ebb serve drives without a definition.
func isExecution(run *storage.Run) bool { return run.Definition == "" && run.Flow == swf.FlowName }

// machineOf returns the machine of a run; nil if the store has none, or this version cannot read it.
func machineOf(ctx context.Context, store backend.Store, run *storage.Run) definition.Machine {
	m, err := (&definition.Catalog{Store: store}).MachineOf(ctx, run)
	if err != nil {
		return nil
	}
	return m
}

func tracerOf(m definition.Machine) grow.Tracer {
	if m == nil {
		return nil
	}
	return m.Tracer()
}

// showJSON writes records as it reads them, because a run may be larger than memory.
func (s subcommands) showJSON(ctx context.Context, store backend.Store, run *storage.Run,
	messages []inspect.Unsent,
) error {
	return view.StreamJSON(s.Out, inspect.SummaryOf(run, messages),
		view.ListOf("states", inspect.Visits(ctx, store, run, tracerOf(machineOf(ctx, store, run)), ""), exit.DatabaseError),
		view.ListOf("atoms", inspect.Atoms(ctx, store, run), exit.DatabaseError),
		view.ListOf("undone", inspect.Undone(ctx, store, run, nil), exit.DatabaseError),
		view.ListOf("stays_done", inspect.Left(ctx, store, run, storage.StatusStaysDone), exit.DatabaseError),
		view.ListOf("may_stay_done", inspect.Left(ctx, store, run, storage.StatusMayStayDone), exit.DatabaseError))
}
