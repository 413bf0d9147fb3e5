package asl

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Position returns line and column of an offset into a definition's text, both
// from 1, the column in characters.
func Position(text []byte, offset int) (line, column int) { return jsontext.Position(text, offset) }

// A Machine is a compiled state machine: a [flow.Language] and nothing else. It
// never changes and may be used by any number of goroutines and runs.
type Machine struct {
	machine  *syntax.Machine
	warnings Problems
}

// Parse reads and compiles a state machine. The name stands for it in messages
// and is the name of its flow; a file's name is a good one.
//
// If the definition is not legal, or if this version cannot run part of it, the
// error is [Problems]: all problems at once, each with its place. Likely errors
// that do not prevent a run are in [Machine.Warnings].
func Parse(name string, text []byte, opts ...Option) (*Machine, error) {
	m, problems := check.Definition(name, text, chosen(opts))
	if refused := problems.Of(Error, Unsupported); len(refused) > 0 {
		return nil, refused
	}
	return &Machine{m, problems}, nil
}

// Validate reports all that is wrong, or looks wrong, with a state machine, by
// the same rules as [Parse]. The definition is legal if [Problems.Legal] says
// so, and can be run if Parse returns no error.
func Validate(name string, text []byte, opts ...Option) Problems {
	_, problems := check.Definition(name, text, chosen(opts))
	return problems
}

// Name returns the name that Parse was given.
func (m *Machine) Name() string { return m.machine.Name }

// Warnings returns the likely errors of a definition that can be run, in the order
// of the text.
func (m *Machine) Warnings() Problems { return m.warnings }

// NumbersNodes implements [flow.Numbering].
func (*Machine) NumbersNodes() {}

// Grow answers one question of the engine.
func (m *Machine) Grow(ask *flow.Ask) flow.Growth { return interpreter.Grow(m.machine, ask) }

// Undo returns the input of the task that undoes a Task state. Without Parameters
// the input is
//
//	{"Input": …, "Result": …, "Outcome": "Done"}
//
// where Input is the effective input of the task that is undone, Result its
// result or null, and Outcome is Done, Failed or Unknown; a failed one also has
// Error and Cause. Parameters are evaluated with that object as $, Arguments with
// it as $states.input.
func (m *Machine) Undo(ask *flow.UndoAsk) (atom.Value, error) {
	return interpreter.Undo(m.machine, ask)
}

// Flow returns the machine as a flow that can be run.
func (m *Machine) Flow() *flow.GrowingFlow { return flow.Growing(m.machine.Name, m) }

// An Option is a choice about how a definition is read.
type Option func(*check.Options)

// Strict refuses Ebb's additions to the language, such as Revert. It also refuses
// states that no transition leads to: AWS refuses them, though they could be run.
func Strict() Option { return func(o *check.Options) { o.Strict = true } }

// Express checks the definition as an Express machine, which has no activities,
// no .sync, no .waitForTaskToken and no distributed Map.
func Express() Option { return func(o *check.Options) { o.Express = true } }

// Under reads the definition by the rules of a profile; [AWS] is the default.
func Under(p Profile) Option { return func(o *check.Options) { o.Profile = p } }

func chosen(opts []Option) (o check.Options) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Attributes has the properties of a run, besides its id, that the context object and
// the history of a machine show. The program that starts a run encodes Attributes into
// [flow.Run.Attributes]. An empty field has a default that is made from the run's id
// and the flow's name.
type Attributes = interpreter.Attributes

// StartExecution is the service, without a pattern, that starts executions.
const StartExecution = syntax.StartExecution

// The limits within which definitions are read and machines run.
const (
	// MaxDefinition is the size in bytes of the longest definition.
	MaxDefinition = definition.MaxSize
	// MaxNesting is how deep objects and arrays of a definition may nest.
	MaxNesting = definition.MaxNesting
	// MaxProblems is how many problems of each severity are reported before the
	// rest is left out.
	MaxProblems = definition.MaxProblems
	// MaxPayload is the size in bytes of the largest effective input, task
	// result, state output or variable, as AWS has it. A larger one fails the
	// state with States.DataLimitExceeded.
	MaxPayload = data.MaxPayload
)

// A Profile says by which edition of the language definitions are read and run.
type Profile = syntax.Profile

// The profiles.
const (
	AWS      = syntax.AWS      // the language of AWS Step Functions, as it is today
	Spec2016 = syntax.Spec2016 // the language as it was first published, with all later fields still legal
)

// Profiles returns all profiles.
func Profiles() []Profile { return syntax.Profiles() }

// ParseProfile returns the profile of a name.
func ParseProfile(name string) (Profile, error) { return syntax.ParseProfile(name) }
