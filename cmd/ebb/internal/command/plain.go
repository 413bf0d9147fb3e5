package command

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
)

func (s subcommands) plainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "plain FILE",
		Short: "Write a machine that uses Revert in plain States Language, for AWS",
		Long: `Write a machine in the Amazon States Language that uses Revert as one that does not. It
undoes the same work with the same inputs by Catch, Choice and Task states, so AWS can run
it. What it does otherwise is printed as warnings. If a part has no plain form, such as the
Revert of a catcher, nothing is written.

Exit status: 0 written, 2 not.`,
		Example: `  ebb plain trip.asl.json > plain.asl.json`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return s.plain(args[0]) },
	}
}

func (s subcommands) plain(file string) error {
	how, err := s.HowToRead(file)
	if err != nil {
		return err
	}
	def, err := definition.Read(file, how)
	if err != nil {
		return err
	}
	if def.Language != definition.ASL {
		return exit.Usagef("%s is not in the Amazon States Language", file)
	}
	text, notes, err := asl.Plain(def.Source.File, def.Text)
	if refused, is := errors.AsType[flow.Diagnostics](err); is {
		notes = refused
	} else if err != nil {
		return err
	}
	notes = def.Source.Placed(notes)
	switch {
	case err == nil && s.JSON():
		return view.NewJSON(s.Out).Encode(struct {
			Definition json.RawMessage  `json:"definition"`
			Notes      flow.Diagnostics `json:"notes"`
		}{text, notes})
	case err == nil:
		_, err = s.Out.Write(text)
	default:
		err = &exit.Error{Status: exit.Usage, Err: fmt.Errorf("%s has no plain form", file)}
	}
	for _, n := range notes {
		fmt.Fprint(s.Err, s.Page().Diagnose(n, def.Source.Lines))
	}
	return err
}
