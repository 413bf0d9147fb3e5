package command

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) revertCommand() *cobra.Command {
	var to, reason string
	var dry bool
	w := drive.Request{
		Name: "revert",
		Refuse: func(run *storage.Run) error {
			switch {
			case run.State == states.FlowReverted:
				return exit.RunIs(run, "nothing to revert")
			case run.State.Ended() && run.Undo == storage.UndoFailed:
				return exit.RunIs(run, "it could not be undone; %s", view.MendHint(run, ""))
			case run.State.Ended() && !undoable(run):
				return exit.RunIs(run, "nothing that it did can be undone")
			}
			return nil
		},
	}
	cmd := &cobra.Command{
		Use:   "revert RUN",
		Short: "Undo what a run did, even if it succeeded",
		Long: `Undo what a run did, in the opposite order. If the run has not ended, cancel it first.
With --to ATOM undo only the atoms after that atom, which itself stays done. --dry-run
lists what would be undone, what stays done, and the point of no return at which the
undo stops, in order, and changes nothing.

The exit status is 0 if the requested undo is complete, and 4 if a revert failed.`,
		Example: `  ebb revert trip-k3v9x2ab
  ebb revert trip-k3v9x2ab --to BookHotel --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Command, w.Aim = engine.Revert(reason), exit.Aim{Reached: cancelled, Wanted: "expected the run to be undone"}
			if to != "" {
				if reason != "" {
					return exit.Usagef("--reason and --to exclude each other: the reason is stored with a run that is undone as a " +
						"whole")
				}
				w.Command, w.Aim = engine.RevertTo(to),
					exit.Aim{Reached: takenBack, Wanted: "expected the run to be undone down to " + to}
			}
			if dry {
				return s.preview(cmd.Context(), args[0], &w)
			}
			return w.Give(cmd.Context(), s.Session, args[0])
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "undo only the atoms after this atom")
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, which is stored with the run")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be undone")
	w.AddFlags(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("dry-run", "no-wait")
	return cmd
}

// takenBack reports whether a run came to rest at the point to which it was to go back. From there the run may go
// forward again. A run of a language has ended.
func takenBack(run *storage.Run) bool {
	return run.State == states.FlowSuspended || cancelled(run)
}

// preview lists what a command would undo.
func (s subcommands) preview(ctx context.Context, id string, w *drive.Request) error {
	return s.Reading(ctx, func(store *sqlstore.Store) error {
		run, err := session.FindRun(ctx, store, id)
		if err != nil {
			return err
		}
		if err := w.Refuse(&run); err != nil {
			return err
		}
		d, err := drive.Open(ctx, s.Session, store, &run)
		if err != nil {
			return err
		}
		eng, err := engine.New(flow.Growing(d.Flow, d.Machine), store)
		if err != nil {
			return err
		}
		return s.showUndo(id, eng.Preview(ctx, id, w.Command), func(err error) error { return d.Stopped(err, false) })
	})
}

// showUndo lists what would be undone and what stays done. It prints each line when it is found, because the list may
// be very long. failed returns the error that has the exit status.
func (s subcommands) showUndo(id string, undo iter.Seq2[engine.PreviewStep, error], failed func(error) error) error {
	if s.JSON() {
		run := struct {
			Run string `json:"run"`
		}{id}
		return view.StreamJSON(s.Out, run, // in the order of undoing
			view.ListOf("undo", pathsOf(undo, storage.Status(states.TaskReverted.String())), failed),
			view.ListOf("stays_done", pathsOf(undo, storage.StatusStaysDone), failed),
			view.ListOf("may_stay_done", pathsOf(undo, storage.StatusMayStayDone), failed),
			view.ListOf("no_return", pathsOf(undo, storage.Status(states.TaskSuccess.String())), failed))
	}
	none := true
	for one, err := range undo {
		if err != nil {
			return failed(err)
		}
		text := visible.Line(one.Path)
		switch {
		case one.Stops && none:
			text = "nothing would be undone\n" + text + noReturn
		case one.Stops:
			text += noReturn
		case one.Status == storage.StatusStaysDone:
			text += "  stays done (no Revert)"
		case one.Status == storage.StatusMayStayDone:
			text += "  may stay done (no Revert, and how it ended is not known)"
		}
		none = false
		if _, err := fmt.Fprintln(s.Out, text); err != nil {
			return err
		}
	}
	if none {
		_, err := fmt.Fprintln(s.Out, "nothing would be undone")
		return err
	}
	return nil
}

// noReturn describes an atom at which an undo stops.
const noReturn = "  is a point of no return: neither it nor what came before it is undone"

// pathsOf yields the paths of the steps that have a status.
func pathsOf(undo iter.Seq2[engine.PreviewStep, error], status storage.Status) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for one, err := range undo {
			if (err != nil || one.Status == status) && !yield(one.Path, err) {
				return
			}
		}
	}
}
