// Package awaited says what the atoms of a flow of Go code take from outside: which signals, and values of which types.
// The engine keeps a record of it with the plan, so that a process without the flow's code refuses what does not fit.
package awaited

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonschema"
)

// RecordKind is the kind of the named records. Their keys are the hashes of the plans, their bodies are [Record]s.
const RecordKind = "ebb.awaited"

// AllAtoms stands for the atoms of a run whose atoms all do the same.
const AllAtoms = "*"

// A Record has the atoms of a plan that another party ends, by their names.
type Record map[string]Atom

// An Atom is what one atom takes.
type Atom struct {
	Signal string             `json:"signal,omitempty"` // name of the signal that ends it; "" if a token does
	Value  *jsonschema.Schema `json:"value"`            // of the result
}

// Read decodes a record. No record, or one of a later version, has no atoms: then the run checks what it receives.
func Read(body []byte) Record {
	var r Record
	if json.Unmarshal(body, &r) != nil {
		return nil
	}
	return r
}

// CheckResult returns an error if the text, JSON, is no result of the atom with that path.
func (r Record) CheckResult(path string, text []byte) error {
	a, ok := r[path]
	if !ok {
		a, ok = r[AllAtoms]
	}
	if !ok {
		return nil
	}
	if err := a.Value.Check(text); err != nil {
		return fmt.Errorf("no result of %s: %w", path, err)
	}
	return nil
}

// CheckSignal returns an error if the text, JSON, ends none of the atoms that await the signal.
func (r Record) CheckSignal(name string, text []byte) error {
	var misfits error
	for _, path := range slices.Sorted(maps.Keys(r)) {
		a := r[path]
		if a.Signal != name || name == "" {
			continue
		}
		err := a.Value.Check(text)
		if err == nil {
			return nil
		}
		misfits = errors.Join(misfits, fmt.Errorf("the data of the signal %q is not what %s awaits: %w", name, path, err))
	}
	return misfits
}

// Example returns a value, as JSON, that the atom with that path accepts; "" if that is not known, or if it is null.
func (r Record) Example(path string) string {
	a := r[path]
	if a.Value == nil {
		return ""
	}
	return strings.TrimPrefix(a.Value.Example(), "null")
}
