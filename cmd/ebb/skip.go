package main

import (
	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/engine"
)

func (s *session) skipCommand() *cobra.Command {
	w := operatorRequest{name: "skip", aim: aim{isReverted, "it was to be undone"}, refuse: refuseMending}
	cmd := &cobra.Command{
		Use:   "skip RUN ATOM",
		Short: "Count what could not be undone as undone, and go on undoing",
		Long: `Count an atom whose revert failed as undone, because somebody has cleaned up by
hand, and go on with the undoing. The exit status is 0 when the run is REVERTED
then.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.command = engine.Skip(args[1])
			return s.give(cmd.Context(), args[0], &w)
		},
	}
	w.noWaitFlag(cmd)
	return cmd
}
