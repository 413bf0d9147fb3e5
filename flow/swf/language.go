package swf

import (
	"cmp"
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
)

// Settings are the quotas of one execution. 0 is the quota of the service.
type Settings struct {
	Events         int64 // of a history: the event after these terminates the execution
	OpenActivities int   // scheduled or started
	OpenTimers     int
	OpenChildren   int
	OpenLambdas    int
	// Undo says which activities undo which, if an execution fails, is terminated or times out. The execution remembers
	// it when it first matters.
	Undo []UndoType
	// UndoFinder is the body of [UndoTask]. Without one, executions that undo wait for a process that has one.
	UndoFinder atom.Body
}

// The quotas of the service. It does not state that of lambda functions.
const (
	DefaultEvents = 25_000
	DefaultOpen   = 1_000
)

// A Language is the model of executions: a [grow.Language]. It does not change, and any number of goroutines may use
// it.
type Language struct{ settings Settings }

// New returns the model of executions with these settings. A zero setting has its default.
func New(s Settings) *Language {
	return &Language{Settings{
		Events:         cmp.Or(s.Events, DefaultEvents),
		OpenActivities: cmp.Or(s.OpenActivities, DefaultOpen),
		OpenTimers:     cmp.Or(s.OpenTimers, DefaultOpen),
		OpenChildren:   cmp.Or(s.OpenChildren, DefaultOpen),
		OpenLambdas:    cmp.Or(s.OpenLambdas, DefaultOpen),
		Undo:           s.Undo, UndoFinder: s.UndoFinder,
	}}
}

// Flow returns the flow of executions, for the catalog.
func (l *Language) Flow() *flow.GrowingFlow { return flow.Growing(FlowName, l) }

// NumbersNodes implements [grow.Numbering]: the name of a node has the number of its event.
func (*Language) NumbersNodes() {}

var (
	errNoReopening = errors.New("an execution that has closed stays closed; start another one")
	errNoUndo      = errors.New("swf: the nodes of an execution have nothing to undo")
)

// Reopens implements [grow.Reopener]: it refuses all runs.
func (*Language) Reopens(*grow.RunInfo) error { return errNoReopening }

// Undo returns an error: no node has an undo.
func (*Language) Undo(*grow.UndoAsk) (atom.Value, error) { return nil, errNoUndo }

// Grow answers one question of the engine.
func (l *Language) Grow(ask *grow.Ask) grow.Growth {
	t := &turn{settings: &l.settings, ask: ask, memory: newMemory()}
	err := errors.Join(ask.Run.Attributes.Decode(&t.start), ask.Memory.Decode(&t.memory))
	if err != nil || t.start.TaskList == nil {
		return broken(err)
	}
	switch c := &ask.Cause; c.Kind {
	case grow.Begin:
		t.begin()
	case grow.Asked:
		t.asked()
	case grow.Told:
		t.told()
	case grow.Receipt:
		t.delivered()
	case grow.Stopped:
		t.stopped()
	case grow.Taken, grow.Called, grow.Ended, grow.Failed:
		t.node()
	default: // the model asks for nothing that the engine could answer with another cause
	}
	return t.finish()
}

// broken ends a run that is not an execution.
func broken(err error) grow.Growth {
	if err == nil {
		err = errors.New("its attributes are not the start of an execution")
	}
	return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: atom.CodeLanguage, Message: "swf: " + err.Error()}}}
}

// node answers the question about a node.
func (t *turn) node() {
	var n note
	if err := t.ask.Cause.Note.Decode(&n); err != nil {
		t.growth = broken(err)
		return
	}
	if t.isOverdue(&n) {
		t.timeOut()
		return
	}
	switch n.Kind {
	case TimeoutNode:
		t.timeOut()
	case decisionNode:
		t.decisionTask(&n)
	case activityNode:
		t.activityTask(&n)
	case timerNode:
		t.fire(&n)
	case childNode:
		t.child(&n)
	case lambdaNode:
		t.lambda(&n)
	}
}
