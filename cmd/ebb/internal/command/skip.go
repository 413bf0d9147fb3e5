package command

import (
	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
)

func (s subcommands) skipCommand() *cobra.Command {
	w := drive.Request{
		Name: "skip", Aim: exit.Aim{Reached: isReverted, Wanted: "expected the run to be undone"},
		Refuse: refuseMending,
	}
	cmd := &cobra.Command{
		Use:   "skip RUN ATOM",
		Short: "Treat an atom whose revert failed as undone, and continue",
		Long: `Treat an atom whose revert failed as undone, because you have cleaned up by hand, and
continue the undo. The exit status is 0 if the run is then REVERTED.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Command = engine.Skip(args[1])
			return w.Give(cmd.Context(), s.Session, args[0])
		},
	}
	w.AddFlags(cmd.Flags())
	return cmd
}
