package command

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s subcommands) retryCommand() *cobra.Command {
	var from, input string
	var reverts, messages bool
	var w drive.Request
	cmd := &cobra.Command{
		Use:   "retry RUN [ATOM]",
		Short: "Resume a failed run, or retry reverts that failed",
		Long: `Resume a run where it failed, or with --from at an atom: Ebb undoes that atom and all
atoms after it, as far as they were done, and runs them again. Members of --input
replace members of the run's input. The exit status is 0 if the run succeeds.

A run of a language resumes where it failed, timed out or was cancelled, unless it was
undone: what had succeeded stays done. For Amazon States Language this is AWS's redrive.

With --messages send parked messages of the run again, even if the run has ended.

With --revert retry all failed reverts, or that of one ATOM, and then continue the
undo. The exit status is then 0 if the run is REVERTED.`,
		Example: `  ebb retry boot-4711 --from create-volume --input '{"size_gb": 10}'
  ebb retry --revert trip-k3v9x2ab
  ebb retry --revert trip-k3v9x2ab BookHotel
  ebb retry --messages order-1`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if messages && len(args) == 1 {
				return s.resend(cmd.Context(), args[0])
			}
			if messages {
				return exit.Usagef("--messages applies to all messages of a run: leave %s out", args[1])
			}
			if reverts {
				path := ""
				if len(args) == 2 {
					path = args[1]
				}
				w.Name, w.Command, w.Aim, w.Refuse = "retry --revert", engine.RetryRevert(path),
					exit.Aim{Reached: isReverted, Wanted: "expected the run to be undone"}, refuseMending
				return w.Give(cmd.Context(), s.Session, args[0])
			}
			if len(args) == 2 {
				return exit.Usagef("to retry from an atom write --from %s; to retry its revert, --revert", args[1])
			}
			inputs, err := s.inputs(input)
			if err != nil {
				return err
			}
			w.Name, w.Command = "retry", engine.RetryFrom(from, inputs...)
			w.Refuse = func(*storage.Run) error { return nil }
			return w.Give(cmd.Context(), s.Session, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "the atom to resume from (default where the run failed)")
	flags.StringVarP(&input, "input", "i", "", "members of the input to replace: JSON, @FILE, or - for standard input")
	flags.BoolVar(&reverts, "revert", false, "retry failed reverts")
	flags.BoolVar(&messages, "messages", false, "send parked messages again")
	w.AddFlags(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("messages", "revert", "from")
	cmd.MarkFlagsMutuallyExclusive("messages", "input")
	cmd.MarkFlagsMutuallyExclusive("messages", "no-wait")
	cmd.MarkFlagsMutuallyExclusive("revert", "input")
	return cmd
}

// inputs returns the members of the flag's object.
func (s subcommands) inputs(flag string) ([]engine.InputOption, error) {
	if flag == "" {
		return nil, nil
	}
	value, err := s.Value("--input", flag)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := value.Decode(&members); err != nil || members == nil {
		return nil, exit.Usagef("--input: want an object, whose members replace those of the run's input")
	}
	inputs := make([]engine.InputOption, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		inputs = append(inputs, engine.With(atom.NewKey[atom.Value](name), atom.FromJSON(members[name])))
	}
	return inputs, nil
}

// refuseMending returns why a run has no failed reverts to retry.
func refuseMending(run *storage.Run) error {
	switch {
	case run.State == states.FlowSuccess, run.State == states.FlowReverted:
		return exit.RunIs(run, "no revert of it has failed")
	case run.State == states.FlowFailure && run.Undo != storage.UndoFailed:
		return exit.RunIs(run, "no revert of it has failed")
	default:
		return nil
	}
}
