package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) suspendCommand() *cobra.Command {
	w := operatorRequest{
		name: "suspend", command: engine.Hold(),
		aim: aim{isHeld, "it was to be suspended"},
		refuse: func(run *storage.Run) error {
			if run.State.Ended() {
				return isWhat(run, "nothing to suspend")
			}
			return nil
		},
	}
	cmd := &cobra.Command{
		Use:   "suspend RUN",
		Short: "Let a run come to rest on purpose",
		Long: `Let a run come to rest on purpose, until ebb resume goes on with it. A process that
moves it is told, and waited for: what it executes may end, and nothing more is
begun. A run that nobody moves is suspended at once.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.suspend(cmd.Context(), args[0], &w) },
	}
	w.noWaitFlag(cmd)
	return cmd
}

// suspend needs nothing of the run's flow, so it can suspend the runs of any
// program.
func (s *session) suspend(ctx context.Context, id string, w *operatorRequest) error {
	return s.withRun(ctx, id, func(store storage.Store, run *storage.Run, owner *storage.Owner) error {
		if err := w.refuse(run); err != nil {
			return err
		}
		switch {
		case owner != nil && w.noWait:
			return s.send(ctx, store, run, w)
		case owner != nil:
			s.noticeTold(run, owner)
		}
		ctx, stop := interruptible(ctx)
		defer stop()
		now, err := engine.Suspend(ctx, store, id)
		if errors.Is(err, engine.ErrStopped) {
			return noLongerWaiting(id)
		}
		if err != nil {
			return unreachable(refused(err))
		}
		return s.stands(&now, &w.aim)
	})
}

// isHeld reports whether no process resumes a run until an operator asks for it. A held run
// that has not begun is PENDING.
func isHeld(run *storage.Run) bool { return run.Hold || run.State == states.FlowSuspended }
