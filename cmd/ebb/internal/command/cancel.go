package command

import (
	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s subcommands) cancelCommand() *cobra.Command {
	var reason string
	var noUndo bool
	w := drive.Request{
		Name: "cancel",
		Aim:  exit.Aim{Reached: cancelled, Wanted: "expected the run to be cancelled"},
		Refuse: func(run *storage.Run) error {
			switch {
			case run.Undo == storage.UndoFailed && run.State.Ended():
				return exit.RunIs(run, "nothing to cancel; %s", view.MendHint(run, ""))
			case run.State.Ended() && undoable(run):
				return exit.RunIs(run, "nothing to cancel; ebb revert %s undoes it", visible.Word(run.ID))
			case run.State.Ended():
				return exit.RunIs(run, "nothing to cancel")
			}
			return nil
		},
	}
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run and undo what it did",
		Long: `End a run and undo what it did: Ebb cancels running atoms, then reverts all atoms.
With --no-undo it reverts nothing. The exit status is 0 if the run is cancelled, and 4
if a revert failed.`,
		Example: `  ebb cancel trip-k3v9x2ab --reason 'the customer called'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Command = engine.Cancel(reason)
			if noUndo {
				w.Command = engine.Abandon(reason)
			}
			return w.Give(cmd.Context(), s.Session, args[0])
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, which is stored with the run")
	cmd.Flags().BoolVar(&noUndo, "no-undo", false, "revert nothing")
	w.AddFlags(cmd.Flags())
	return cmd
}

// cancelled reports whether a run was cancelled and its undo did not fail.
func cancelled(run *storage.Run) bool {
	return run.Outcome == storage.Cancelled && run.State.Ended() && run.Undo != storage.UndoFailed
}

// undoable reports whether something that a run did may be undone, as far as its record shows: runs of compiled
// flows have no undo stack.
func undoable(run *storage.Run) bool {
	return run.State != states.FlowReverted && (run.Definition == "" || run.Undos > 0)
}

// isReverted is the aim of commands that undo a run.
func isReverted(run *storage.Run) bool { return run.State == states.FlowReverted }
