package main

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) retryCommand() *cobra.Command {
	var from, input string
	var reverts, messages bool
	var w operatorRequest
	cmd := &cobra.Command{
		Use:   "retry RUN [ATOM]",
		Short: "Let a run that failed go on, or try again what could not be undone",
		Long: `Let a run go on from where it failed, or with --from from an atom: that and all that
came after it is undone, as far as it was done, and runs again. Members of --input
replace those of the run's input. A run of a language cannot go forward again.

With --messages what the run sent in vain too often, and what is parked since, is
sent again, also when the run has ended.

With --revert what could not be undone is tried again, all of it or one ATOM, and
then the undoing goes on. The exit status is 0 then when the run is REVERTED.`,
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
				return usagef("--messages is for all messages of a run: leave %s out", args[1])
			}
			if reverts {
				path := ""
				if len(args) == 2 {
					path = args[1]
				}
				w.name, w.command, w.aim, w.refuse = "retry --revert", engine.RetryRevert(path), aim{isReverted, "it was to be undone"}, refuseMending
				return s.give(cmd.Context(), args[0], &w)
			}
			if len(args) == 2 {
				return usagef("to retry from an atom write --from %s; to retry its revert, --revert", args[1])
			}
			inputs, err := s.inputs(input)
			if err != nil {
				return err
			}
			w.name, w.command = "retry", engine.RetryFrom(from, inputs...)
			w.refuse = func(*storage.Run) error { return nil }
			return s.give(cmd.Context(), args[0], &w)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "the atom to go on from (default where it failed)")
	flags.StringVarP(&input, "input", "i", "", "what to change of the input: JSON, @FILE, or - for standard input")
	flags.BoolVar(&reverts, "revert", false, "try again what could not be undone")
	flags.BoolVar(&messages, "messages", false, "send again what was parked because it could not be sent")
	w.noWaitFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("messages", "revert", "from")
	cmd.MarkFlagsMutuallyExclusive("messages", "input")
	cmd.MarkFlagsMutuallyExclusive("messages", "no-wait")
	cmd.MarkFlagsMutuallyExclusive("revert", "input")
	return cmd
}

// inputs returns the members of the object that the flag gives.
func (s *session) inputs(flag string) ([]engine.InputOption, error) {
	if flag == "" {
		return nil, nil
	}
	value, err := s.value("--input", flag)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := value.Decode(&members); err != nil || members == nil {
		return nil, usagef("--input: want an object, whose members replace those of the run's input")
	}
	inputs := make([]engine.InputOption, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		inputs = append(inputs, engine.With(atom.NewKey[atom.Value](name), atom.FromJSON(members[name])))
	}
	return inputs, nil
}

// refuseMending says why there is nothing to mend in the undoing of a run.
func refuseMending(run *storage.Run) error {
	switch {
	case run.State == states.FlowSuccess, run.State == states.FlowReverted:
		return isWhat(run, "no revert of it has failed")
	case run.State == states.FlowFailure && run.Undo != storage.UndoFailed:
		return isWhat(run, "no revert of it has failed")
	default:
		return nil
	}
}
