package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/flow/asl"
)

func (s *session) validateCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Report all that is wrong, or looks wrong, in a definition",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var opts []asl.Option
			if strict {
				opts = append(opts, asl.Strict())
			}
			return s.validate(args[0], opts)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "refuse what Ebb adds to the language")
	return cmd
}

func (s *session) validate(file string, opts []asl.Option) error {
	text, err := readFile(file, maxFile)
	if err != nil {
		return err
	}
	machine, err := asl.Parse(file, text, opts...)
	problems, _ := errors.AsType[asl.Problems](err)
	if err == nil {
		problems = machine.Warnings()
	}
	result := "OK"
	if err != nil {
		result = "FAIL"
	}
	if s.output == asJSON {
		if problems == nil {
			problems = asl.Problems{}
		}
		err := newJSON(s.out).Encode(struct {
			Result      string       `json:"result"`
			Diagnostics asl.Problems `json:"diagnostics"`
		}{result, problems})
		if err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			if p.Severity == asl.Warning {
				fmt.Fprintln(s.out, "warning:", p)
			} else {
				fmt.Fprintln(s.out, p)
			}
		}
		fmt.Fprintln(s.out, file+":", result)
	}
	if err != nil {
		return &statusError{status: exitUsage, err: err, told: true}
	}
	return nil
}
