package interpreter

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/jsonata"
)

// An Interpreter answers one question of the engine. It goes from state to state as far as it can without waiting.
type Interpreter struct {
	history

	visits map[string]int
	node   string // name of the node of the visit that the question is about; "" if it has none yet
	budget int    // number of states through which the answer may still pass
	spent  int    // number of steps that queries of earlier states took
}

// NewInterpreter returns an interpreter that answers one question of the engine.
func NewInterpreter(m *syntax.Machine, ask *grow.Ask) *Interpreter {
	w := &Interpreter{budget: stepBudget}
	w.Machine, w.Ask, w.Steps = m, ask, jsonata.MaxSteps
	return w
}

// A Step is the outcome of a visit to a state.
type Step struct {
	Output   *data.Value
	Next     *syntax.State // nil: the level ends
	Assigned map[string]*data.Value
	Waits    bool // a node was added, so the interpreter stops here
}

// Grow answers one question of the engine.
func Grow(m *syntax.Machine, ask *grow.Ask) grow.Growth {
	w := NewInterpreter(m, ask)
	if err := w.answer(); err != nil {
		return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: atom.CodeLanguage, Message: err.Error()}}}
	}
	w.bound()
	w.growth.Untold = w.told - int64(len(w.growth.Events))
	if w.changed {
		w.growth.Memory = data.EncodeMembers(w.vars)
	}
	return w.growth
}

// answer handles the cause. It returns an error only for a question that no engine asks, such as one about a state that
// the definition does not have.
func (w *Interpreter) answer() error {
	cause := &w.Ask.Cause
	w.accepted()
	switch cause.Kind {
	case grow.Overdue:
		w.overdue()
		return nil
	case grow.Stopped:
		w.stopped()
		return nil
	default:
	}
	if w.Ask.Index >= 0 {
		if group, err := w.shared(); err != nil {
			return err
		} else if w.Group = group; group.run != nil {
			return runMap(w)
		}
	}
	switch cause.Kind {
	case grow.Begin:
		return w.begin()
	case grow.Reopened:
		return w.reopened()
	case grow.Told: // only map runs expect messages
		return nil
	default:
		return w.resume()
	}
}

// resume continues the visit of a state that waited.
func (w *Interpreter) resume() error {
	cause := &w.Ask.Cause
	n, err := readNote(cause.Note)
	if err != nil {
		return err
	}
	if w.State = w.Machine.States[n.state]; w.State == nil {
		return fmt.Errorf("asl: %s: the definition has no state %q", w.Machine.Name, n.state)
	}
	undid := cause.Kind == grow.Undone || cause.Kind == grow.UndoFailed
	if undid != (n.intent != nil) {
		return fmt.Errorf("asl: %s: %s is no answer to what the state %q wanted", w.Machine.Name, cause.Kind, n.state)
	}
	paused := n.paused && cause.Kind == grow.Ended
	if !paused && !undid && !causesOf[w.State.Kind][cause.Kind] {
		return fmt.Errorf("asl: %s: nothing that is %s can happen to the %s state %q", w.Machine.Name, cause.Kind,
			w.State.Kind, n.state)
	}
	w.entered, w.EnteredAt, w.Input = n.entered, n.at, n.input
	if w.nothing = w.Input == nil; w.nothing {
		w.Input = &data.Value{} // it is no longer needed
	}
	w.used, w.redrives = n.used, n.redrives
	w.nodeFailed = cause.Kind == grow.Failed || cause.Kind == grow.JoinFailed
	w.last, w.visits, w.Tries, w.before = n.last, n.visits, n.tries, n.entered
	w.attempted = cause.Kind != grow.Continue && !paused
	if w.attempted && !undid {
		w.node = cause.Name
	}
	if paused {
		w.proceed(w.Visit())
		return nil
	}
	switch cause.Kind {
	case grow.Taken, grow.Called:
		w.taken(n)
	case grow.Undone:
		w.goOn(w.undone(n.intent))
	case grow.UndoFailed:
		w.goOn(w.undoFailed(cause.Failure))
	case grow.Continue:
		if n.through != nil {
			w.proceed(w.through(n.through))
		} else {
			w.run(w.State, w.Input)
		}
	case grow.Ended:
		switch {
		case w.State.Kind == syntax.WaitState:
			w.proceed(w.Waited())
		case cause.Run && n.child != nil:
			w.proceed(w.executionEnded(n.child))
		default:
			w.proceed(w.TaskEnded(cause.Result))
		}
	case grow.Failed:
		if cause.Run && n.child != nil {
			w.proceed(w.executionEnded(n.child))
		} else {
			w.proceed(Step{}, w.TaskFailed(cause.Failure))
		}
	case grow.Joined:
		w.proceed(w.joined(cause.Results))
	default:
		w.proceed(Step{}, w.joinFailed(cause.Failure))
	}
	return nil
}

// causesOf lists the causes with which the engine may ask about a waiting state, by the type of the state. Every state
// may be continued.
var causesOf = func() (causes [len(syntax.KindNames)]map[grow.CauseKind]bool) {
	for kind := range causes {
		causes[kind] = map[grow.CauseKind]bool{grow.Continue: true}
	}
	causes[syntax.WaitState][grow.Ended] = true
	for _, cause := range []grow.CauseKind{grow.Ended, grow.Failed, grow.Taken, grow.Called} {
		causes[syntax.TaskState][cause] = true
	}
	for _, kind := range []syntax.Kind{syntax.ParallelState, syntax.MapState} {
		causes[kind][grow.Joined], causes[kind][grow.JoinFailed] = true, true
	}
	return causes
}()

// begin starts the level that is asked about.
func (w *Interpreter) begin() error {
	w.visits = map[string]int{}
	if w.Ask.Index < 0 {
		input := data.Text(w.Ask.Cause.Input)
		if len(w.Ask.Cause.Input) == 0 {
			input = data.EmptyObject
		}
		w.started(input)
		level, err := w.top()
		if err != nil {
			return err
		}
		if t := w.timeout(level); t > 0 {
			w.growth.Deadline = w.Ask.Now.Add(t)
		}
		w.run(level.Start, input)
		return nil
	}
	return w.beginChild()
}

// top returns the level that the run begins with: the machine's, or what a
// distributed Map does with each item.
func (w *Interpreter) top() (*syntax.Level, error) {
	name := w.attributes().Map
	if name == "" {
		return w.Machine.Top, nil
	}
	if s := w.Machine.States[name]; s != nil && s.Items != nil {
		return s.Items.Processor, nil
	}
	return nil, fmt.Errorf("asl: %s: the definition has no Map state %q", w.Machine.Name, name)
}

// run visits states until one waits, the level ends, or the budget is spent.
func (w *Interpreter) run(s *syntax.State, input *data.Value) {
	for ; s != nil; w.budget-- {
		if w.budget <= 0 || w.spent >= jsonata.MaxSteps {
			w.growth.More = (&levelState{state: s.Name, at: w.Ask.Now, last: w.last, visits: w.visits, input: input}).encode()
			return
		}
		if w.Ask.Done() {
			return
		}
		w.Enter(s, input)
		out, f := w.Visit()
		if s, input = w.settle(out, f); input == nil {
			return
		}
	}
	w.succeed(input)
}

// goOn continues after something was undone.
func (w *Interpreter) goOn(out Step, f *stateerror.Error) {
	if s, input := w.settled(out, f); input != nil {
		w.run(s, input)
	}
}

// proceed continues after the end of a node.
func (w *Interpreter) proceed(out Step, f *stateerror.Error) {
	if s, input := w.settle(out, f); input != nil {
		w.run(s, input)
	}
}

// settle ends a visit. It leaves the state, retries or catches an error, or ends the level with the error. It returns
// the next state, or nil after the last one. It also returns the input of that state, or nil if the interpreter is
// done.
func (w *Interpreter) settle(out Step, f *stateerror.Error) (*syntax.State, *data.Value) {
	if f != nil {
		w.tell(f)
		out, f = w.rescue(f)
	}
	return w.settled(out, f)
}

// settled is settle for an outcome that can no longer be retried or caught.
func (w *Interpreter) settled(out Step, f *stateerror.Error) (*syntax.State, *data.Value) {
	switch {
	case f != nil:
		w.tell(f)
		w.tellBroken()
		note := w.toReopen(f)
		w.fail(f)
		w.growth.End.Reopen = note
		if w.Ask.Index < 0 {
			w.growth.End.Failure.Atom = w.place()
		}
		return nil, nil
	case out.Waits:
		return nil, nil
	}
	w.exit(out)
	return out.Next, out.Output
}

// tell adds to the cause of an error where the error happened, and writes the event of an evaluation that failed.
func (w *Interpreter) tell(f *stateerror.Error) {
	if !f.Place {
		return
	}
	f.Cause = fmt.Sprintf("An error occurred while executing the state '%s' (entered at the event id #%d). %s",
		w.State.Name, w.entered, f.Cause)
	f.Place = false
	if f.Name == stateerror.QueryEvaluation {
		w.evaluationFailed(f)
	}
}

// Visit does what a state does when it is entered.
func (w *Interpreter) Visit() (Step, *stateerror.Error) {
	switch w.State.Kind {
	case syntax.PassState:
		return w.pass()
	case syntax.ChoiceState:
		return w.choose()
	case syntax.WaitState:
		return w.wait()
	case syntax.SucceedState:
		return w.Waited()
	case syntax.FailState:
		return Step{}, w.failing()
	case syntax.TaskState:
		return w.work()
	default:
		return w.fork()
	}
}

// Enter begins the visit of a state.
func (w *Interpreter) Enter(s *syntax.State, input *data.Value) {
	w.State, w.Input, w.EnteredAt, w.node = s, input, w.Ask.Now, ""
	w.Tries, w.attempted, w.ctx, w.ctxQuery, w.token, w.child = nil, false, nil, nil, "", nil
	w.broken, w.brokeAt = false, 0
	w.used, w.redrives, w.nodeFailed, w.nothing, w.passing = 0, 0, false, false, nil
	w.Machine.Through(s)
	w.growth.Steps++
	w.spent += jsonata.MaxSteps - w.Steps
	w.Steps, w.before = jsonata.MaxSteps, w.last
	if w.Ask.Quiet {
		w.count()
	} else {
		w.record(grow.Event{Type: enteredTypes[s.Kind], Name: s.Name, Key: "input", Body: input.Encoded()})
	}
	w.entered = w.last
}

//limit:asl states that only compute, in one answer | {} | continues after a commit
const stepBudget = 500
