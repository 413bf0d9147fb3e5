package command

import (
	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

func (s subcommands) suspendCommand() *cobra.Command {
	w := drive.Request{
		Name: "suspend", Command: engine.Hold(),
		Aim: exit.Aim{Reached: drive.IsHeld, Wanted: "expected the run to be suspended"},
		Refuse: func(run *storage.Run) error {
			if run.State.Ended() {
				return exit.RunIs(run, "nothing to suspend")
			}
			return nil
		},
	}
	cmd := &cobra.Command{
		Use:   "suspend RUN",
		Short: "Suspend a run",
		Long: `Suspend a run until ebb resume. If a process drives the run, ebb suspend sends it the
command and waits: running atoms may end, and nothing more is started. If no process
drives the run, it is suspended at once, also a run of a Go program.

The exit status is 0 if the run is SUSPENDED.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return w.Suspend(cmd.Context(), s.Session, args[0]) },
	}
	w.AddFlags(cmd.Flags())
	return cmd
}
