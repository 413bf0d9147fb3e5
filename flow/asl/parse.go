package asl

import "github.com/ebbflow/ebb/flow"

// A Machine is a compiled state machine: a [flow.Language] and nothing else. It
// never changes and may be used by any number of goroutines and runs.
type Machine struct {
	name     string
	profile  Profile
	top      *level
	states   map[string]*state // of all levels
	warnings Problems
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
// the same rules as [Parse]. The definition is legal if [Problems.Legal] says
// so, and can be run if Parse returns no error.
func Validate(name string, text []byte, opts ...Option) Problems {
	_, problems := check(name, text, opts)
	return problems
}

// Name returns the name that Parse was given.
func (m *Machine) Name() string { return m.name }

// Warnings returns what looks wrong in the definition though it can be run, in
// the order of the text.
func (m *Machine) Warnings() Problems { return m.warnings }

// Flow returns the machine as a flow that can be run.
func (m *Machine) Flow() *flow.GrowingFlow { return flow.Growing(m.name, m) }
