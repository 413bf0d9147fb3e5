package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage"
)

// runFlags are the flags of ebb run.
type runFlags struct {
	id     string
	input  string
	expect string
	mock   string
	tasks  []string
	strict bool
}

// restStates are the states that a run may come to rest in.
var restStates = []string{"SUCCESS", "FAILURE", "REVERTED", "SUSPENDED"}

func (s *session) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a definition, or go on with a run of it",
		Long: `Run a definition in the Amazon States Language to its end, or until it is undone.

With --id a run of that id is begun, or gone on with when there is one.
Ctrl-C suspends the run; pressed again it stops at once. Either way ebb resume
goes on with it.

Exit status: 0 SUCCESS or as expected, 1 FAILURE, 2 not startable, 3 REVERTED,
4 could not be undone, 5 suspended or stopped, 6 not found, 7 no database.`,
		Example: `  ebb run trip.asl.json --input '{"to": "Rome"}'
  ebb run --expect REVERTED trip.asl.json
  ebb run --mock mocks.json#paid trip.asl.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), args[0], &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "id of the run (default the flow's name and a random end)")
	flags.StringVarP(&f.input, "input", "i", "", "input: JSON, @FILE, or - for standard input (default {})")
	flags.StringVar(&f.expect, "expect", "", "exit with 0 when the run comes to rest in this state, "+strings.Join(restStates, ", "))
	flags.StringVar(&f.mock, "mock", "", "answer for states from a mock file of Step Functions Local, FILE#case")
	flags.StringArrayVar(&f.tasks, "task", nil, "what a resource stands for, NAME=RESOURCE, such as ARN=exec:./pay.sh")
	flags.BoolVar(&f.strict, "strict", false, "refuse what Ebb adds to the language")
	return cmd
}

func (s *session) run(ctx context.Context, file string, f *runFlags) error {
	if err := oneOf("expect", f.expect, restStates); err != nil {
		return err
	}
	var opts []asl.Option
	if f.strict {
		opts = append(opts, asl.Strict())
	}
	def, err := readDefinition(file, opts...)
	if err != nil {
		return err
	}
	for _, w := range def.machine.Warnings() {
		fmt.Fprintln(s.err, "ebb: warning:", w)
	}
	input, err := s.input(f.input)
	if err != nil {
		return err
	}
	b, err := f.beginning(file)
	if err != nil {
		return err
	}
	registry, err := b.registry(def.Name)
	if err != nil {
		return err
	}
	if err := def.check(file, registry); err != nil {
		return err
	}
	id, err := f.runID(def.Name)
	if err != nil {
		return err
	}
	return s.withStore(ctx, func(store storage.Store) error {
		if run, err := store.Run(ctx, id); err == nil && run.Definition != def.Hash {
			return usagef("run %s was begun on another definition than %s is now (ebb resume %s goes on with it; another --id begins anew)", id, file, id)
		}
		if _, err := store.PutDefinition(ctx, def.Definition); err != nil {
			return unreachable(err)
		}
		j := journey{session: s, store: store, machine: def.machine, flow: def.Name, id: id, tasks: registry, expect: f.expect}
		return j.make(ctx, engine.Input(input), engine.Attributes(b.attributes()), engine.OnDefinition(def.Hash))
	})
}

// runID returns the id that the run is to have.
func (f *runFlags) runID(flow string) (string, error) {
	switch {
	case f.id == "":
		return flow + "-" + strings.ToLower(rand.Text()[:8]), nil
	case len(f.id) > storage.MaxID:
		return "", usagef("--id %.20s…: an id has at most %d bytes", f.id, storage.MaxID)
	case strings.ContainsFunc(f.id, unicode.IsControl):
		return "", usagef("--id %q: an id has no control characters", f.id)
	}
	return f.id, nil
}

// beginning returns what the flags say about the run that is kept with it.
func (f *runFlags) beginning(file string) (beginning, error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return beginning{}, err
	}
	b := beginning{Dir: dir}
	for _, text := range f.tasks {
		name, resource, ok := strings.Cut(text, "=")
		if !ok || name == "" || resource == "" {
			return b, usagef("--task %s: want NAME=RESOURCE, such as arn:aws:lambda:…:Pay=exec:./pay.sh", text)
		}
		if b.Tasks == nil {
			b.Tasks = map[string]string{}
		}
		b.Tasks[name] = resource
	}
	if f.mock != "" {
		if b.Mock, err = filepath.Abs(f.mock); err != nil {
			return b, err
		}
	}
	return b, nil
}

// input returns the run's input as the flag says it.
func (s *session) input(flag string) (atom.Value, error) {
	var text []byte
	var err error
	name := "--input"
	switch {
	case flag == "":
		text = []byte("{}")
	case flag == "-":
		name = "standard input"
		if text, err = io.ReadAll(io.LimitReader(s.in, atom.MaxValue+1)); err != nil {
			return nil, readError(name, err)
		}
	case flag[0] == '@':
		name = flag[1:]
		if text, err = readFile(name, atom.MaxValue); err != nil {
			return nil, err
		}
	default:
		text = []byte(flag)
	}
	if len(text) > atom.MaxValue {
		return nil, usagef("%s: the input is larger than %d bytes", name, atom.MaxValue)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		fix := ""
		if name == "--input" {
			fix = " (for a file write @FILE)"
		}
		if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
			name = fmt.Sprintf("%s, character %d", name, broken.Offset)
		}
		return nil, usagef("%s: the input is no JSON: %w%s", name, err, fix)
	}
	return atom.FromJSON(text), nil
}
