package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage"
)

// A definition is a file that can be run.
type definition struct {
	storage.Definition

	machine *asl.Machine
}

// languageASL is how stored definitions call the Amazon States Language.
const languageASL = "asl"

// readDefinition reads and compiles a file.
func readDefinition(file string, opts ...asl.Option) (*definition, error) {
	text, err := readFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	machine, err := asl.Parse(file, text, opts...)
	if err != nil {
		return nil, &statusError{status: exitUsage, err: fmt.Errorf("%s cannot be run:\n%w", file, err)}
	}
	hash := sha256.Sum256(append([]byte(languageASL+"\n"), text...))
	return &definition{
		Definition: storage.Definition{
			Hash: hex.EncodeToString(hash[:]), Name: flowName(file), Language: languageASL, Text: text,
		},
		machine: machine,
	}, nil
}

// flowName returns the name of the flow that a file defines: trip for
// examples/trip.asl.json.
func flowName(file string) string {
	name := filepath.Base(file)
	for _, ext := range []string{".json", ".asl"} {
		if short := strings.TrimSuffix(name, ext); short != "" {
			name = short
		}
	}
	return name
}

// A beginning is what a run was begun with besides its definition and input. It
// is kept with the run, so that any process can go on with it.
type beginning struct {
	Dir   string            `json:"dir"`            // from where programs are looked up, absolute
	Tasks map[string]string `json:"tasks,omitzero"` // what names are mapped to
	Mock  string            `json:"mock,omitzero"`  // FILE#case, the file absolute
}

// attributes are what is told to the language of a run. Members that it does
// not know it leaves alone.
type attributes struct {
	asl.Attributes

	Ebb beginning `json:"ebb"`
}

// beginningOf returns what a stored run was begun with.
func beginningOf(run *storage.Run) (beginning, error) {
	var a attributes
	if err := run.Attrs.Decode(&a); err != nil {
		return a.Ebb, fmt.Errorf("%w: run %s: attributes: %w", storage.ErrCorrupt, run.ID, err)
	}
	return a.Ebb, nil
}

// attributes returns the form in which b is kept.
func (b beginning) attributes() atom.Value { return atom.MustEncode(attributes{Ebb: b}) }

// registry returns the tasks of a run of the flow.
func (b beginning) registry(flow string) (*tasks.Registry, error) {
	r := &tasks.Registry{Dir: b.Dir}
	for name, resource := range b.Tasks {
		r.Map(name, resource)
	}
	if b.Mock == "" {
		return r, nil
	}
	file, testCase := cutCase(b.Mock)
	text, err := readFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	r.Mocks, err = tasks.ParseMocks(file, text, flow, testCase)
	if err != nil {
		return nil, &statusError{status: exitUsage, err: err}
	}
	return r, nil
}

// cutCase splits FILE#case.
func cutCase(mock string) (file, testCase string) {
	if i := strings.LastIndexByte(mock, '#'); i >= 0 {
		return mock[:i], mock[i+1:]
	}
	return mock, ""
}

// check returns an error that names each task that is not there.
func (d *definition) check(file string, r *tasks.Registry) error {
	var problems []string
	for _, state := range d.machine.States() {
		for _, task := range []struct {
			name string
			at   int
		}{{state.Task, state.TaskAt}, {state.Revert, state.RevertAt}} {
			if task.name == "" {
				continue
			}
			if err := r.Check(task.name, state.Name); err != nil {
				line, column := asl.Position(d.Text, task.at)
				problems = append(problems, fmt.Sprintf("%s:%d:%d: state %q: %s", file, line, column, state.Name,
					strings.TrimPrefix(err.Error(), "tasks: ")))
			}
		}
	}
	if len(problems) > 0 {
		return usagef("%s", strings.Join(problems, "\n"))
	}
	return nil
}
