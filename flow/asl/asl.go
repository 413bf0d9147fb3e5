package asl

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Position returns the line and column of an offset in a definition's text. Both start at 1; the column counts
// characters.
func Position(text []byte, offset int) (line, column int) { return jsontext.Position(text, offset) }

// A Machine is a compiled state machine, and a [grow.Language]. It does not change, and any number of goroutines
// and runs may use it.
type Machine struct {
	machine  *syntax.Machine
	warnings flow.Diagnostics
}

// Parse compiles a state machine. name identifies the definition in messages and is the name of its flow; use a
// file's name, for example.
//
// If the definition is not legal, or if this version cannot run part of it, the error is [flow.Diagnostics]: all
// problems at once, each with its position. Likely errors that do not prevent a run are in [Machine.Warnings].
func Parse(name string, text []byte, opts ...Option) (*Machine, error) {
	m, problems := check.Definition(name, text, chosen(opts))
	if refused := problems.Of(flow.SeverityError, flow.SeverityUnsupported); len(refused) > 0 {
		return nil, refused
	}
	return &Machine{m, problems}, nil
}

// Validate reports all errors and warnings of a state machine, by the same rules as [Parse]. The definition is
// legal if [flow.Diagnostics.Legal] reports true, and can run if Parse returns no error.
func Validate(name string, text []byte, opts ...Option) flow.Diagnostics {
	_, problems := check.Definition(name, text, chosen(opts))
	return problems
}

// Name returns the name that Parse received.
func (m *Machine) Name() string { return m.machine.Name }

// Warnings returns the likely errors of a definition that can run, in the order of the text.
func (m *Machine) Warnings() flow.Diagnostics { return m.warnings }

// NumbersNodes implements [grow.Numbering].
func (*Machine) NumbersNodes() {}

// Grow answers one question of the engine.
func (m *Machine) Grow(ask *grow.Ask) grow.Growth { return interpreter.Grow(m.machine, ask) }

// Undo returns the input of the task that undoes a Task state. Without Parameters the input is
//
//	{"Input": …, "Result": …, "Outcome": "Done"}
//
// where Input is the effective input of the undone task, Result is its result or null, and Outcome is Done, Failed
// or Unknown. If the task failed, Error and Cause are added. Parameters are evaluated with that object as $,
// Arguments with the object as $states.input.
func (m *Machine) Undo(ask *grow.UndoAsk) (atom.Value, error) {
	return interpreter.Undo(m.machine, ask)
}

// Reopens implements [grow.Reopener]: a run continues as AWS redrives an execution. The states that were entered and
// not left start again, with their input and with retriers that count from 0. Reopens refuses Express executions.
func (*Machine) Reopens(run *grow.RunInfo) error { return interpreter.Reopens(run) }

// Flow returns a flow that runs the machine.
func (m *Machine) Flow() *flow.GrowingFlow { return flow.Growing(m.machine.Name, m) }

// An Option determines how [Parse] and [Validate] read a definition.
type Option func(*check.Options)

// Strict refuses Ebb's additions to the language, such as Revert. It also refuses states that no transition leads
// to, as AWS does.
func Strict() Option { return func(o *check.Options) { o.Strict = true } }

// ForAWS refuses states that no transition leads to, as AWS does. Unlike [Strict], it only warns of Ebb's additions.
func ForAWS() Option { return func(o *check.Options) { o.ForAWS = true } }

// Accepted reads a definition that was accepted once. Rules that are younger than databases only warn of it.
func Accepted() Option { return func(o *check.Options) { o.Accepted = true } }

// Express checks the definition as an Express machine, which has no activities,
// no .sync, no .waitForTaskToken and no distributed Map.
func Express() Option { return func(o *check.Options) { o.Express = true } }

// Placeholders makes [Parse] accept a placeholder, such as ${PayArn}, as the Resource of a task: it is the name of the
// task. All other placeholders stay illegal in a definition that is to run.
func Placeholders() Option { return func(o *check.Options) { o.Placeholders = true } }

// Under makes [Parse] and [Validate] read the definition by the rules of an edition of the language. The default is
// [AWS].
func Under(p Profile) Option { return func(o *check.Options) { o.Profile = p } }

func chosen(opts []Option) (o check.Options) {
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Attributes has the properties of a run, besides its id, that the context object and
// the history of a machine show. The program that starts a run encodes Attributes into
// [grow.RunInfo.Attributes]. An empty field has a default that is made from the run's id
// and the flow's name.
type Attributes = interpreter.Attributes

// RunID returns the id of the run of an execution with an ARN. The id is the end of the ARN, behind the kind:
// Trip:monday for arn:aws:states:us-east-1:111111111111:execution:Trip:monday. If a world is given, such as
// arn:aws:states:us-east-1:111111111111, the id of an execution that is not in it begins with its account and region:
// 222222222222/eu-west-1/Trip:monday. If an id is too long for a run, it is replaced by its first bytes and a hash. A
// run of a machine that has an ARN starts executions, also of a distributed Map's items, under these ids.
func RunID(world, execution string) string { return interpreter.RunID(world, execution) }

// A run that has started a map run has two labels, if its machine has an ARN. The key of one is MapRunLabel and the ID
// of the map run, and its value is MapRunStarted. The key of the other is MapRunEvent and the ID, and its value is the
// number of the event that tells of the start.
const (
	MapRunLabel   = interpreter.MapRunLabel
	MapRunStarted = interpreter.MapRunStarted
	MapRunEvent   = interpreter.MapRunEvent
)

// RedriveLabel is the key of the label that counts how often a run was reopened, see [Machine.Reopens]. The label with
// the key RedriveDateLabel says when it was last reopened, as in RFC 3339. A run that was not has no such labels.
const (
	RedriveLabel     = interpreter.RedriveLabel
	RedriveDateLabel = interpreter.RedriveDateLabel
)

// A MapRun describes one start of a distributed Map state.
type MapRun = interpreter.MapRun

// MapRunCounts counts the executions of a map run, or their items.
type MapRunCounts = interpreter.MapRunCounts

// MapRunOf describes a map run, which is the flow in the fork of its state. The arguments are the input of the fork,
// and the memory of the flow or, if it has ended, the note of its end. It returns false for other flows.
func MapRunOf(fork, memory atom.Value) (MapRun, bool) { return interpreter.MapRunOf(fork, memory) }

// UpdateMapRun is the name of the signal that changes a map run while it runs. The path of the message is that of the
// map run, and its body is a [MapRunUpdate].
const UpdateMapRun = interpreter.UpdateMapRun

// A MapRunUpdate changes the limits of a map run. A member that is nil, or out of range, changes nothing.
type MapRunUpdate = interpreter.MapRunUpdate

// StartExecution is the service, without a pattern, that starts executions.
const StartExecution = syntax.StartExecution

// Limits of definitions and of running machines.
const (
	// MaxDefinition is the maximum size of a definition in bytes.
	MaxDefinition = definition.MaxSize
	// MaxProblems is the maximum number of reported problems of each severity.
	MaxProblems = definition.MaxProblems
	// MaxPayload is AWS's maximum size in bytes of an effective input, a task result, a state output or a variable.
	// A larger value fails the state with States.DataLimitExceeded.
	MaxPayload = data.MaxPayload
	// MaxEvents is AWS's maximum number of events in the history of a Standard execution, see [Attributes].Limited.
	MaxEvents = interpreter.MaxEvents
)

// A Profile is an edition of the language: [AWS] or [Spec2016]. Its rules determine how definitions are read and
// run. See [Under].
type Profile = syntax.Profile

// The editions of the language.
const (
	AWS      = syntax.AWS      // the current language of AWS Step Functions
	Spec2016 = syntax.Spec2016 // the first published language, with all later fields still legal
)

// Profiles returns all profiles.
func Profiles() []Profile { return syntax.Profiles() }

// ParseProfile returns the profile with the name "aws" or "spec2016".
func ParseProfile(name string) (Profile, error) { return syntax.ParseProfile(name) }
