package sm4c

import (
	"time"

	"github.com/ebbflow/ebb/flow"
)

// A Machine is a compiled state machine: a [flow.Language] and nothing else. It
// never changes and may be used by any number of goroutines and runs.
type Machine struct {
	name       string // as Parse was given it
	title      string
	version    string
	text       []byte
	warnings   Problems
	states     []*state
	byName     map[string]*state
	start      *state
	timeout    *executionTimeout // nil: none
	events     []*event
	awaited    []*event // by some group
	functions  []*function
	actions    []*action // all, by their numbers
	correlates bool      // some awaited event has a correlation
	keys       []string  // names of the attributes that correlate without a value of their own
	documents  map[string][]byte
}

// An executionTimeout ends a run that takes too long.
type executionTimeout struct {
	after  time.Duration
	action *action // nil: none
}

// Parse reads and compiles a state machine. The name stands for it in messages
// and is the name of its flow; a file's name is a good one.
//
// If the definition is not legal, or if this version cannot run part of it, the
// error is [Problems]: all problems at once, each with its place. Likely errors
// that do not prevent a run are in [Machine.Warnings].
func Parse(name string, text []byte, opts ...Option) (*Machine, error) {
	m, problems := check(name, text, opts)
	if refused := problems.Of(Error, Unsupported); len(refused) > 0 {
		return nil, refused
	}
	m.warnings = problems
	return m, nil
}

// Validate reports all that is wrong, or looks wrong, with a state machine, by
// the same rules as [Parse].
func Validate(name string, text []byte, opts ...Option) Problems {
	_, problems := check(name, text, opts)
	return problems
}

// Name returns the name that Parse was given.
func (m *Machine) Name() string { return m.name }

// Title returns the name that the definition has given itself, and its version.
func (m *Machine) Title() (name, version string) { return m.title, m.version }

// Text returns the definition together with the documents that it has loaded, as
// it is to be stored: [Parse] of it loads nothing, and gives the same machine.
func (m *Machine) Text() []byte { return m.text }

// Document returns a document that is stored with the definition, such as the
// OpenAPI document of a REST function, and whether there is one of the URI.
func (m *Machine) Document(uri string) ([]byte, bool) {
	doc, ok := m.documents[uri]
	return doc, ok
}

// Warnings returns the likely errors of a definition that can be run, in the order
// of the text.
func (m *Machine) Warnings() Problems { return m.warnings }

// Flow returns the machine as a flow that can be run.
func (m *Machine) Flow() *flow.GrowingFlow { return flow.Growing(m.name, m) }

// All languages report the problems of a definition with the same types.
type (
	// Severity is how serious a problem is.
	Severity = flow.Severity
	// Problem is one thing that is wrong, or looks wrong, in a definition.
	Problem = flow.Diagnostic
	// Problems are all problems that [Validate] found, or the problems that keep [Parse]
	// from returning a machine, in the order of the text.
	Problems = flow.Diagnostics //nolint:errname // it is the plural, and reads as English
)

// The severities.
const (
	Error       = flow.SeverityError       // the definition is not legal
	Unsupported = flow.SeverityUnsupported // it is legal, but this version of Ebb cannot run it
	Warning     = flow.SeverityWarning     // it can be run, but hardly does what was meant
)

// The limits within which definitions are read and machines run.
const (
	// MaxDefinition is the size in bytes of the longest definition, or loaded
	// document.
	MaxDefinition = 1 << 20
	// MaxNesting is how deep objects and arrays of a definition may nest.
	MaxNesting = 200
	// MaxProblems is how many problems of each severity are reported before the
	// rest is left out.
	MaxProblems = 100
	// MaxInbox is how many events a run keeps that it has not consumed, and
	// MaxInboxBytes is their size. Further events are dropped, and the history
	// records that.
	MaxInbox      = 1000
	MaxInboxBytes = 512 << 10
	// MaxTransitions is how many transitions may follow each other without a wait before
	// a machine that repeats itself fails with [CodeLivelock].
	MaxTransitions = 10_000

	maxName         = 256     // bytes of a name
	maxDepth        = 50      // of subflows in subflows
	maxText         = 1 << 10 // bytes of a message in the history
	maxEventDetails = 8 << 10 // bytes of what a line of the history says
	maxDocuments    = 100     // that a definition may have loaded
	stepBudget      = 500     // actions and transitions in one answer
)
