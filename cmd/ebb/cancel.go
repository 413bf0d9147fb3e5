package main

import (
	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) cancelCommand() *cobra.Command {
	var reason string
	var noUndo bool
	w := operatorRequest{
		name: "cancel",
		aim:  aim{cancelled, "it was to be cancelled"},
		refuse: func(run *storage.Run) error {
			switch {
			case run.Undo == storage.UndoFailed && run.State.Ended():
				return isWhat(run, "nothing to cancel; %s", mendHint(run.ID, ""))
			case run.State.Ended() && undoable(run):
				return isWhat(run, "nothing to cancel; ebb revert %s undoes it", run.ID)
			case run.State.Ended():
				return isWhat(run, "nothing to cancel")
			}
			return nil
		},
	}
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run and undo what it did",
		Long: `End a run and undo what it did: what executes is cancelled, then all is reverted.
With --no-undo what was done stays as it is. The exit status is 0 when the run is
cancelled, and 4 when something could not be undone.`,
		Example: `  ebb cancel trip-k3v9x2ab --reason 'the customer called'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.command = engine.Cancel(reason)
			if noUndo {
				w.command = engine.Abandon(reason)
			}
			return s.give(cmd.Context(), args[0], &w)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is kept with the run")
	cmd.Flags().BoolVar(&noUndo, "no-undo", false, "leave what was done as it is")
	w.noWaitFlag(cmd)
	return cmd
}

// cancelled reports whether a run was cancelled and what was to be undone is undone.
func cancelled(run *storage.Run) bool {
	return run.Outcome == storage.Cancelled && run.State.Ended() && run.Undo != storage.UndoFailed
}

// isReverted is the aim of what undoes a run.
func isReverted(run *storage.Run) bool { return run.State == states.FlowReverted }
