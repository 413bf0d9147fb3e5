package definition

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/storage"
)

// maxFile is the maximum size of a definition or a mock file in bytes. A definition's own limit is lower.
//
//limit:command file of a definition, mocks or a template | {B}
const maxFile = 16 << 20

// A Definition is a file that can run.
type Definition struct {
	storage.Definition

	Machine Machine
	Source  *Source
}

// Read reads and compiles a file with one definition, or one machine of a template: FILE#MACHINE.
func Read(path string, how Reading) (*Definition, error) {
	p, err := ReadProject(path, how)
	if err != nil {
		return nil, err
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	if len(p.Sources) != 1 {
		var names []string
		for _, s := range p.Sources {
			names = append(names, s.Machine)
		}
		return nil, fmt.Errorf("%s has %d state machines: name one of them, such as %s#%s (%s)", path, len(p.Sources), path,
			cmp.Or(names...), strings.Join(names, ", "))
	}
	return p.Sources[0].Definition(how)
}

// definitionIn compiles the text of a file.
func definitionIn(file string, text []byte, how Reading) (*Definition, error) {
	p := &Project{}
	if err := p.addFile(file, text, &how); err != nil {
		return nil, err
	}
	if len(p.Sources) != 1 {
		return nil, fmt.Errorf("%s has %d state machines, not one", file, len(p.Sources))
	}
	return p.Sources[0].Definition(how)
}

// Definition returns the definition of a source, compiled.
func (s *Source) Definition(how Reading) (*Definition, error) {
	name := cmp.Or(s.Machine, flowName(s.File))
	if err := backend.CheckFlow("the file", name); err != nil { // runs are named after the flow
		return nil, err
	}
	m, err := s.compile(how)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be run:\n%w", s.File, err)
	}
	language, text := m.Stored()
	def := &Definition{Definition: storage.Definition{Language: language, Text: text}, Machine: m, Source: s}
	def.rename(name)
	return def, nil
}

// Express reports whether the definition is that of an Express machine.
func (d *Definition) Express() bool { return d.Source.express }

// rename sets the name of the flow, which the hash covers.
func (d *Definition) rename(name string) {
	d.Name, d.Hash = name, backend.DefinitionHash(name, d.Language, d.Text)
}

// Place returns the place in the file of an offset in the text, and whether the offset is in it.
func (d *Definition) Place(offset int) (document.Place, bool) {
	if offset < 0 {
		return document.Place{Line: 1, Column: 1}, false
	}
	return d.Source.position(offset), true
}

// Base returns the path of a file without what says that it is a definition: examples/trip for examples/trip.asl.json.
func Base(file string) string { return filepath.Join(filepath.Dir(file), flowName(file)) }

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

// Missing returns a line with its place for each use of a task that cannot be called. It also returns the name of the
// first of these tasks. A task is not needed if mocks cover its callers; the line names callers that they do not cover.
func (d *Definition) Missing(r *tasks.Registry) (lines []string, first string) {
	for _, use := range d.Machine.Uses() {
		bare := slices.DeleteFunc(slices.Clone(use.Callers), r.Mocks.Covers)
		err := r.Check(use.Task)
		if err == nil || len(bare) == 0 && len(use.Callers) > 0 {
			continue
		}
		if r.Mocks != nil && slices.ContainsFunc(bare, isAction) {
			use.Where += ", without a mock at " + callers(bare)
		}
		at := document.Place{Line: 1, Column: 1}
		if use.At >= 0 {
			at = d.Source.position(use.At)
		}
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s: %s", d.Source.File, at.Line, at.Column, use.Where,
			strings.TrimPrefix(err.Error(), "tasks: ")))
		first = cmp.Or(first, use.Task)
	}
	return lines, first
}

// isAction reports whether a caller is an action inside a state.
func isAction(caller string) bool { return strings.Contains(caller, "/") }

// callers lists the names of callers as mocks have them.
func callers(paths []string) string {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i], _ = nodepath.Names(path)
	}
	return strings.Join(names, " and ")
}
