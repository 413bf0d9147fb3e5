package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// maxFile is how large a definition or a mock file may be, in bytes. A
// definition's own limit is lower.
const maxFile = 16 << 20

// A Definition is a file that can be run.
type Definition struct {
	storage.Definition

	Machine Machine
	Source  *Source
}

// Read reads and compiles a file.
func Read(file string, how Reading) (*Definition, error) {
	text, err := limitedfile.Read(file, maxFile)
	if err != nil {
		return nil, err
	}
	return definitionIn(file, text, how)
}

// definitionIn compiles the text of a file.
func definitionIn(file string, text []byte, how Reading) (*Definition, error) {
	sources, err := sourcesIn(file, text)
	if err != nil {
		return nil, err
	}
	if len(sources) > 1 {
		return nil, fmt.Errorf("%s has %d state machines; a definition of its own is needed for each that is to be run", file, len(sources))
	}
	if err := CheckName("the file", flowName(file)); err != nil { // which its runs are named after
		return nil, err
	}
	src := sources[0]
	m, err := src.compile(how)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be run:\n%w", file, err)
	}
	language, text := m.Stored()
	hash := sha256.Sum256(append([]byte(language+"\n"), text...))
	return &Definition{
		Definition: storage.Definition{Hash: hex.EncodeToString(hash[:]), Name: flowName(file), Language: language, Text: text},
		Machine:    m, Source: src,
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

// Check returns an error that names each task that is not there.
func (d *Definition) Check(r *tasks.Registry) error {
	var problems []string
	for _, use := range d.Machine.Uses() {
		if err := r.Check(use.Task, use.State); err != nil {
			at := document.Place{Line: 1, Column: 1}
			if use.At >= 0 {
				at = d.Source.position(use.At)
			}
			problems = append(problems, fmt.Sprintf("%s:%d:%d: %s: %s", d.Source.File, at.Line, at.Column, use.Where, strings.TrimPrefix(err.Error(), "tasks: ")))
		}
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// CheckName returns an error for the name of something new in which a reader cannot see every character: it could not
// be told from another, or be written again. What has such a name already can still be named.
//
// The rule is the command's. A store takes any text: the ids of runs that a run begins hold the names of its states,
// and a Go program names its own.
func CheckName(what, name string) error {
	if !visible.All(name) {
		return fmt.Errorf("%s %q: a name has no control characters, nor others that cannot be seen", what, name)
	}
	return nil
}
