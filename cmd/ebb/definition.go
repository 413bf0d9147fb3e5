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
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/storage"
)

// maxFile is how large a definition or a mock file may be, in bytes. A
// definition's own limit is lower.
const maxFile = 16 << 20

// A definition is a file that can be run.
type definition struct {
	storage.Definition

	machine machine
	source  *source
}

// readDefinition reads and compiles a file.
func readDefinition(file string, how reading) (*definition, error) {
	text, err := limitedfile.Read(file, maxFile)
	if err != nil {
		return nil, err
	}
	return definitionIn(file, text, how)
}

// definitionIn compiles the text of a file.
func definitionIn(file string, text []byte, how reading) (*definition, error) {
	sources, err := sourcesIn(file, text)
	if err != nil {
		return nil, err
	}
	if len(sources) > 1 {
		return nil, usagef("%s has %d state machines; a definition of its own is needed for each that is to be run", file, len(sources))
	}
	if err := checkName("the file", flowName(file)); err != nil { // which its runs are named after
		return nil, err
	}
	src := sources[0]
	m, err := src.compile(how)
	if err != nil {
		return nil, &statusError{status: exitUsage, err: fmt.Errorf("%s cannot be run:\n%w", file, err)}
	}
	language, text := m.stored()
	hash := sha256.Sum256(append([]byte(language+"\n"), text...))
	return &definition{
		Definition: storage.Definition{Hash: hex.EncodeToString(hash[:]), Name: flowName(file), Language: language, Text: text},
		machine:    m, source: src,
	}, nil
}

// flowName returns the name of the flow that a file defines: trip for
// examples/trip.asl.json.
func flowName(file string) string {
	name := filepath.Base(file)
	for _, ext := range []string{".json", ".yaml", ".yml", ".asl", ".sm4c"} {
		if short := strings.TrimSuffix(name, ext); short != "" {
			name = short
		}
	}
	return name
}

// A beginning is what a run was begun with besides its definition and input. It
// is kept with the run, so that any process can go on with it.
type beginning struct {
	Dir     string            `json:"dir"`              // from where programs are looked up, absolute
	Tasks   map[string]string `json:"tasks,omitzero"`   // what names are mapped to
	Buckets map[string]string `json:"buckets,omitzero"` // which folders buckets are, absolute
	Mock    string            `json:"mock,omitzero"`    // FILE#case, the file absolute
	Flows   map[string]string `json:"flows,omitzero"`   // hashes of the definitions of subflows, by their names
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

// registry returns the tasks of a run of the flow. What they write in buckets is of the
// user alone, or shared like its folder.
func (b beginning) registry(flow string, shared bool) (*tasks.Registry, error) {
	r := &tasks.Registry{Dir: b.Dir}
	for name, resource := range b.Tasks {
		r.Map(name, resource)
	}
	for name, folder := range b.Buckets {
		bucket := tasks.Folder(folder)
		if shared {
			bucket = tasks.SharedFolder(folder)
		}
		r.AddBucket(name, bucket)
	}
	if b.Mock == "" {
		return r, nil
	}
	file, testCase := cutCase(b.Mock)
	text, err := limitedfile.Read(file, maxFile)
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
	for _, use := range d.machine.uses() {
		if err := r.Check(use.task, use.state); err != nil {
			at := place{1, 1}
			if use.at >= 0 {
				at = d.source.position(use.at)
			}
			problems = append(problems, fmt.Sprintf("%s:%d:%d: %s: %s", file, at.line, at.column, use.where, strings.TrimPrefix(err.Error(), "tasks: ")))
		}
	}
	if len(problems) > 0 {
		return usagef("%s", strings.Join(problems, "\n"))
	}
	return nil
}
