package sm4c

import (
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/check"
	"github.com/ebbflow/ebb/flow/sm4c/internal/interpreter"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
)

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

// Validate reports all errors and warnings of a state machine, by the same rules as [Parse].
func Validate(name string, text []byte, opts ...Option) flow.Diagnostics {
	_, problems := check.Definition(name, text, chosen(opts))
	return problems
}

// Name returns the name that Parse received.
func (m *Machine) Name() string { return m.machine.Name }

// Title returns the name and version that the definition itself contains.
func (m *Machine) Title() (name, version string) { return m.machine.Title, m.machine.Version }

// Text returns the definition together with its loaded documents. Store this text: [Parse] of it loads nothing, and
// returns the same machine.
func (m *Machine) Text() []byte { return m.machine.Text }

// Document returns the stored document with the given URI, such as the OpenAPI document of a REST function, and
// whether there is one.
func (m *Machine) Document(uri string) ([]byte, bool) {
	doc, ok := m.machine.Documents[uri]
	return doc, ok
}

// Warnings returns the likely errors of a definition that can run, in the order of the text.
func (m *Machine) Warnings() flow.Diagnostics { return m.warnings }

// Flow returns a flow that runs the machine.
func (m *Machine) Flow() *flow.GrowingFlow { return flow.Growing(m.machine.Name, m) }

// NumbersNodes implements [grow.Numbering].
func (*Machine) NumbersNodes() {}

var errNoReopening = errors.New("the language State Machines For Cloud has no way back into a state that failed; " +
	"start another run")

// Reopens implements [grow.Reopener]: it refuses all runs, because the language has no rule for it.
func (*Machine) Reopens(*grow.RunInfo) error { return errNoReopening }

// Grow answers one question of the engine.
func (m *Machine) Grow(ask *grow.Ask) grow.Growth { return interpreter.Grow(m.machine, ask) }

// Undo returns the input of the function that undoes a call. Without arguments the input is
//
//	{"arguments": …, "result": …, "outcome": "done"}
//
// where arguments are the arguments of the undone call, result is its result or null, and outcome is done, failed
// or unknown. If the call failed, the member error is added. In the arguments of a revert, . is the arguments of
// the call and $value is its result.
func (m *Machine) Undo(ask *grow.UndoAsk) (atom.Value, error) {
	return interpreter.Undo(m.machine, ask)
}

// Why returns what a machine currently does, from the memory of its run.
func (m *Machine) Why(memory atom.Value) (*grow.Waiting, error) {
	return interpreter.Why(m.machine, memory)
}

// MaxDefinition is the maximum size in bytes of a definition or a loaded document.
const MaxDefinition = check.MaxDefinition

// The codes of errors. Error handlers see them, and runs fail with them.
const (
	CodeExpression = stateerror.CodeExpression // an expression failed, or returned more than one value
	// CodeType: the input of a foreach is not an array, or an attribute of an event is not a string.
	CodeType     = stateerror.CodeType
	CodeFunction = stateerror.CodeFunction // a function failed
	CodeSubflow  = stateerror.CodeSubflow  // a subflow failed, or is unknown
	CodeStuck    = stateerror.CodeStuck    // no transition of a state can ever fire
	CodeLivelock = stateerror.CodeLivelock // the machine repeats itself, taking transitions without a wait
	CodeTimeout  = stateerror.CodeTimeout  // the run exceeded its timeout; its outcome is timed out, not failed
)

// Schema returns the JSON Schema of definitions, for editors.
func Schema() []byte { return check.Schema() }
