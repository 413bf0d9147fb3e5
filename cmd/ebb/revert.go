package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) revertCommand() *cobra.Command {
	var to, reason string
	var dry bool
	w := operatorRequest{
		name: "revert",
		refuse: func(run *storage.Run) error {
			switch {
			case run.State == states.FlowReverted:
				return isWhat(run, "nothing to revert")
			case run.State.Ended() && run.Undo == storage.UndoFailed:
				return isWhat(run, "it was to be undone, and could not be; %s", mendHint(run.ID, ""))
			case run.State.Ended() && !undoable(run):
				return isWhat(run, "nothing that it did can be undone")
			}
			return nil
		},
	}
	cmd := &cobra.Command{
		Use:   "revert RUN",
		Short: "Undo what a run did, also when it has succeeded",
		Long: `Undo what a run did, in the opposite order; one that still goes on is cancelled
first. With --to ATOM only what came after that atom is undone, which itself stays
done. --dry-run lists what would be undone, in order, and changes nothing.

The exit status is 0 when what was wanted is undone, and 4 when something could
not be.`,
		Example: `  ebb revert trip-k3v9x2ab
  ebb revert trip-k3v9x2ab --to BookHotel --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.command, w.aim = engine.Cancel(reason), aim{cancelled, "it was to be undone"}
			if to != "" {
				if reason != "" {
					return usagef("--reason is kept with a run that is undone; it cannot be told together with --to")
				}
				w.command, w.aim = engine.RevertTo(to), aim{takenBack, "it was to be undone down to " + to}
			}
			if dry {
				return s.preview(cmd.Context(), args[0], &w)
			}
			return s.give(cmd.Context(), args[0], &w)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "undo only what came after this atom")
	cmd.Flags().StringVar(&reason, "reason", "", "why; it is kept with the run")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be undone")
	w.noWaitFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("dry-run", "no-wait")
	return cmd
}

// takenBack reports whether a run came to rest where it was to be taken back to:
// it may go forward again from there, or, being of a language, ends there.
func takenBack(run *storage.Run) bool {
	return run.State == states.FlowSuspended || cancelled(run)
}

// preview lists what a command would undo.
func (s *session) preview(ctx context.Context, id string, w *operatorRequest) error {
	return s.reading(ctx, func(store storage.Store) error {
		run, err := findRun(ctx, store, id)
		if err != nil {
			return err
		}
		if err := w.refuse(&run); err != nil {
			return err
		}
		j, err := s.runSessionOf(ctx, store, &run)
		if err != nil {
			return err
		}
		eng, err := engine.New(flow.Growing(j.flow, j.machine), engine.WithStore(store))
		if err != nil {
			return err
		}
		return s.showUndo(id, eng.Preview(ctx, id, w.command), func(err error) error { return j.stopped(err, false) })
	})
}

// showUndo lists what would be undone, as it is found: it may be very much. failed returns
// the error that has the exit status.
func (s *session) showUndo(id string, undo iter.Seq2[string, error], failed func(error) error) error {
	if s.output == asJSON {
		run := struct {
			Run string `json:"run"`
		}{id}
		return streamJSON(s.out, run, listOf("undo", undo, failed)) // in the order in which they would be undone
	}
	none := true
	for path, err := range undo {
		if err != nil {
			return failed(err)
		}
		none = false
		if _, err := fmt.Fprintln(s.out, visible.Line(path)); err != nil {
			return err
		}
	}
	if none {
		_, err := fmt.Fprintln(s.out, "nothing would be undone")
		return err
	}
	return nil
}
