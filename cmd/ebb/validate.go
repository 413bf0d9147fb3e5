package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/visible"
)

// validateFlags are the flags of ebb validate.
type validateFlags struct {
	strict bool
	kind   string
	schema bool

	language string
}

var machineTypes = []string{"STANDARD", "EXPRESS"}

func (s *session) validateCommand() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "Report all that is wrong, or looks wrong, in definitions",
		Long: `Report all that is wrong, or looks wrong, in definitions, each with its place.

A file is JSON, YAML, or a template of CloudFormation or SAM, of which each state
machine is validated. Its content tells the language: the Amazon States Language, or
SM4C. Documents that a definition in SM4C names are loaded: files, and from the web
what --allow allows. An error makes a definition illegal; a warning says that it
hardly does what was meant; and what is legal but cannot be run by this version is
called so. --schema prints a JSON Schema for editors instead.

Exit status: 0 no errors, 2 errors, or a file that cannot be read.`,
		Example: `  ebb validate trip.asl.json
  ebb validate --type EXPRESS template.yaml
  ebb validate --schema --language sm4c > sm4c.schema.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.schema {
				return usagef("ebb validate needs a FILE")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if f.schema {
				return s.schema(f.language)
			}
			return s.validate(args, &f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.strict, "strict", false, "refuse what Ebb adds to the language, and states that no transition leads to")
	flags.StringVar(&f.kind, "type", "", "the type of the machine, "+strings.Join(machineTypes, " or ")+" (default what a template says, else STANDARD)")
	flags.BoolVar(&f.schema, "schema", false, "print a JSON Schema of the language")
	flags.StringVar(&f.language, "language", definition.ASL, "the language of the schema, "+strings.Join(languages, " or "))
	return cmd
}

var languages = []string{definition.ASL, definition.SM4C}

func (s *session) schema(language string) error {
	if err := oneOf("language", language, languages); err != nil {
		return err
	}
	schema := asl.Schema()
	if language == definition.SM4C {
		schema = sm4c.Schema()
	}
	_, err := s.out.Write(schema)
	return err
}

// A diagnostic is a problem as it is written in JSON.
type diagnostic struct {
	asl.Problem

	Machine string `json:"machine,omitempty"` // in a template: the name of the resource
}

func (s *session) validate(files []string, f *validateFlags) error {
	if err := oneOf("type", f.kind, machineTypes); err != nil {
		return err
	}
	var sources []*definition.Source
	for _, file := range files {
		found, err := definition.ReadSources(file)
		if err != nil {
			return err
		}
		sources = append(sources, found...)
	}
	diagnostics := []diagnostic{}
	legal := true
	for _, src := range sources {
		how, err := s.howToRead(src.File)
		if err != nil {
			return err
		}
		how.Strict, how.Express = f.strict, f.kind == "EXPRESS"
		problems := src.Validate(how)
		legal = legal && problems.Legal()
		if s.output == asText {
			s.report(src, problems)
		}
		for _, p := range problems {
			diagnostics = append(diagnostics, diagnostic{p, src.Machine})
		}
	}
	if s.output == asJSON {
		err := view.NewJSON(s.out).Encode(struct {
			Result      string       `json:"result"`
			Diagnostics []diagnostic `json:"diagnostics"`
		}{verdict(legal), diagnostics})
		if err != nil {
			return err
		}
	}
	if !legal {
		return &statusError{status: exitUsage, err: errors.New("invalid definitions"), told: true}
	}
	return nil
}

func verdict(legal bool) string {
	if legal {
		return "OK"
	}
	return "FAIL"
}

// report writes what is wrong with a definition for people.
func (s *session) report(src *definition.Source, problems asl.Problems) {
	for _, p := range problems {
		lines := src.Lines
		if p.File != src.File { // of a document that it has loaded
			lines = nil
		}
		fmt.Fprint(s.out, s.page().Diagnose(p, lines))
	}
	name := src.File
	if src.Machine != "" {
		name += ": " + src.Machine
	}
	line := name + ": " + verdict(problems.Legal())
	if counts := view.Summary(problems); counts != "" {
		line += " (" + counts + ")"
	}
	fmt.Fprintln(s.out, visible.Line(line))
}
