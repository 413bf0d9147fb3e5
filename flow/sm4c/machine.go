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
// When the definition is not legal, or has something that this version cannot
// run, the error is [Problems]: all there is to report at once, each with its
// place. What looks wrong but can be run is in [Machine.Warnings].
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

// Warnings returns what looks wrong in the definition though it can be run, in
// the order of the text.
func (m *Machine) Warnings() Problems { return m.warnings }

// Flow returns the machine as a flow that can be run.
func (m *Machine) Flow() *flow.GrowingFlow { return flow.Growing(m.name, m) }
