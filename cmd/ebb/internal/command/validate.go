package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/flow"
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

func (s subcommands) validateCommand() *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate FILE|FOLDER…",
		Short: "Report errors and warnings in definitions",
		Long: `Report errors and warnings in definitions, each with its position.

A file is JSON, YAML, or a template of CloudFormation, SAM, CDK or the Serverless
Framework, of which each state machine is validated. It may also be a folder with
templates, or FILE#MACHINE. Ebb recognizes the language by its content: the Amazon States
Language, or SM4C. Documents that a definition in SM4C names are loaded: files, and
web documents that --allow permits. A definition with an error is illegal. A warning
means that the definition probably does not do what its author meant. Legal features
that this version cannot run are reported as well. --schema prints a JSON Schema for
editors instead.

Exit status: 0 no errors, 2 errors, or a file that cannot be read.`,
		Example: `  ebb validate trip.asl.json
  ebb validate --type EXPRESS template.yaml
  ebb validate --schema --language sm4c > sm4c.schema.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.schema {
				return exit.Usagef("ebb validate needs a FILE")
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
	flags.BoolVar(&f.strict, "strict", false,
		"refuse Ebb's additions to the language, and states that no transition leads to")
	flags.StringVar(&f.kind, "type", "", "the type of the machine, "+strings.Join(machineTypes, " or ")+
		" (default what a template says, else STANDARD)")
	s.TemplateFlags(flags)
	flags.BoolVar(&f.schema, "schema", false, "print a JSON Schema of the language")
	flags.StringVar(&f.language, "language", definition.ASL, "the language of the schema, "+
		strings.Join(languages, " or "))
	return cmd
}

var languages = []string{definition.ASL, definition.SM4C}

func (s subcommands) schema(language string) error {
	if err := session.OneOf("language", language, languages); err != nil {
		return err
	}
	schema := asl.Schema()
	if language == definition.SM4C {
		schema = sm4c.Schema()
	}
	_, err := s.Out.Write(schema)
	return err
}

// A diagnostic is a problem in JSON; the keys are stable.
type diagnostic struct {
	flow.Diagnostic

	Machine string `json:"machine,omitempty"` // in a template: the name of the resource
}

func (s subcommands) validate(files []string, f *validateFlags) error {
	if err := session.OneOf("type", f.kind, machineTypes); err != nil {
		return err
	}
	var sources []*definition.Source
	for _, file := range files {
		how, err := s.HowToRead(file)
		if err != nil {
			return err
		}
		p, err := definition.ReadProject(file, how)
		if err != nil {
			return err
		}
		for _, notice := range p.Notices {
			s.Noticef("%s", notice)
		}
		sources = append(sources, append(p.Sources, p.About...)...)
	}
	diagnostics := []diagnostic{}
	legal := true
	for _, src := range sources {
		how, err := s.HowToRead(src.File)
		if err != nil {
			return err
		}
		how.Strict, how.Express = f.strict, f.kind == "EXPRESS"
		problems := src.Validate(how)
		legal = legal && problems.Legal()
		if !s.JSON() {
			s.report(src, problems)
		}
		for _, p := range problems {
			diagnostics = append(diagnostics, diagnostic{p, src.Machine})
		}
	}
	if s.JSON() {
		err := view.NewJSON(s.Out).Encode(struct {
			Result      string       `json:"result"`
			Diagnostics []diagnostic `json:"diagnostics"`
		}{verdict(legal), diagnostics})
		if err != nil {
			return err
		}
	}
	if !legal {
		return &exit.Error{Status: exit.Usage, Err: errors.New("invalid definitions"), Told: true}
	}
	return nil
}

func verdict(legal bool) string {
	if legal {
		return "OK"
	}
	return "FAIL"
}

// report prints the problems of a definition for people.
func (s subcommands) report(src *definition.Source, problems flow.Diagnostics) {
	for _, p := range problems {
		lines := src.Lines
		if p.File != src.File { // of a loaded document
			lines = nil
		}
		fmt.Fprint(s.Out, s.Page().Diagnose(p, lines))
	}
	name := src.File
	if src.Machine != "" {
		name += ": " + src.Machine
	}
	line := name + ": " + verdict(problems.Legal())
	if counts := view.Summary(problems); counts != "" {
		line += " (" + counts + ")"
	}
	fmt.Fprintln(s.Out, visible.Line(line))
}
