package asl

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// An interpreter answers one question of the engine. It goes from state to state as
// far as it can without waiting for anything.
type interpreter struct {
	machine *Machine
	ask     *flow.Ask
	growth  flow.Growth
	last    int64 // number of the event that the next one follows from
	told    int64 // how many events the answer has, left out or not

	vars    map[string]*jsonValue // of this level; nil until they are asked for
	changed bool                  // vars differ from the ask's memory
	group   *shared               // what the level's group shares; nil until it is asked for
	visits  map[string]int
	budget  int // states that the answer may still walk through
	spent   int // steps that the queries of the states before took

	// These are nil until they are asked for.
	attrs    *Attributes
	runInput *jsonValue
	mapItem  *jsonValue
	taking   *takenItem // by a map run, of which the context object tells
	queries  *querying

	// The visit of a state that the interpreter is in.
	state     *state
	entered   int64 // number of the event that told of entering it
	before    int64 // number of the event that one followed from
	enteredAt time.Time
	input     *jsonValue // raw
	tries     []int
	child     *startedExecution    // that the task has started; nil when it starts none
	token     string               // of the task's next attempt; "" when it has none
	attempted bool                 // the state's node was run
	broken    bool                 // the Parallel or Map state has failed, which the history is yet to be told
	brokeAt   int64                // what that event followed from when it was told; 0: it was not
	paused    bool                 // the node to come only waits for the state to be begun again
	ctx       *jsontext.OrderedMap // the context object; nil until it is asked for
	ctxQuery  *jsonValue           // the same for JSONata
	steps     int                  // that the visit's queries may still take
	drawn     int                  // random numbers drawn when the ask gives none

	// Of a state that is tested alone these are not nil: see [TestState].
	inspection *inspection
	given      *jsonValue // the context object
	read       *jsonValue // what an ItemReader has read
}

// A step is what a visit to a state comes to.
type step struct {
	output   *jsonValue
	next     *state // nil: the level ends
	assigned map[string]*jsonValue
	waits    bool // a node was added: the interpreter stops here
}

// NumbersNodes implements [flow.Numbering].
func (*Machine) NumbersNodes() {}

// Grow answers one question of the engine.
func (m *Machine) Grow(ask *flow.Ask) flow.Growth {
	w := &interpreter{machine: m, ask: ask, steps: jsonata.MaxSteps, budget: stepBudget}
	if err := w.answer(); err != nil {
		return flow.Growth{End: &flow.End{Failure: &atom.Failure{Code: atom.CodeLanguage, Message: err.Error()}}}
	}
	w.growth.Untold = w.told - int64(len(w.growth.Events))
	if w.changed {
		w.growth.Memory = encodeData(w.vars)
	}
	return w.growth
}

// answer does what the cause asks for. It returns an error only for a question
// that no engine asks of this definition, such as one about a state that it does
// not have.
func (w *interpreter) answer() error {
	cause := &w.ask.Cause
	switch cause.Kind {
	case flow.Overdue:
		w.overdue()
		return nil
	case flow.Stopped:
		w.stopped()
		return nil
	default:
	}
	if w.ask.Index >= 0 {
		if group, err := w.shared(); err != nil {
			return err
		} else if w.group = group; group.run != nil {
			return w.runMap()
		}
	}
	if cause.Kind == flow.Begin {
		return w.begin()
	}
	return w.resume()
}

// resume goes on in the visit of a state that waited.
func (w *interpreter) resume() error {
	cause := &w.ask.Cause
	n, err := readNote(cause.Note)
	if err != nil {
		return err
	}
	if w.state = w.machine.states[n.state]; w.state == nil {
		return fmt.Errorf("asl: %s: the definition has no state %q", w.machine.name, n.state)
	}
	undid := cause.Kind == flow.Undone || cause.Kind == flow.UndoFailed
	if undid != (n.intent != nil) {
		return fmt.Errorf("asl: %s: %s is no answer to what the state %q wanted", w.machine.name, cause.Kind, n.state)
	}
	paused := n.paused && cause.Kind == flow.Ended
	if !paused && !undid && !causesOf[w.state.kind][cause.Kind] {
		return fmt.Errorf("asl: %s: nothing that is %s can happen to the %s state %q", w.machine.name, cause.Kind, w.state.kind, n.state)
	}
	w.entered, w.enteredAt, w.input = n.entered, n.at, n.input
	if w.input == nil {
		w.input = &jsonValue{} // nothing needs it
	}
	w.last, w.visits, w.tries, w.before = n.last, n.visits, n.tries, n.entered
	w.attempted = cause.Kind != flow.Continue && !paused
	if paused {
		w.proceed(w.visit())
		return nil
	}
	switch cause.Kind {
	case flow.Taken, flow.Called:
		w.taken(n)
	case flow.Undone:
		w.goOn(w.undone(n.intent))
	case flow.UndoFailed:
		w.goOn(w.undoFailed(cause.Failure))
	case flow.Continue:
		if n.through != nil {
			w.proceed(w.through(n.through))
		} else {
			w.run(w.state, w.input)
		}
	case flow.Ended:
		switch {
		case w.state.kind == waitState:
			w.proceed(w.waited())
		case cause.Run && n.child != nil:
			w.proceed(w.executionEnded(n.child))
		default:
			w.proceed(w.taskEnded(cause.Result))
		}
	case flow.Failed:
		if cause.Run && n.child != nil {
			w.proceed(w.executionEnded(n.child))
		} else {
			w.proceed(step{}, w.taskFailed(cause.Failure))
		}
	case flow.Joined:
		w.proceed(w.joined(cause.Results))
	default:
		w.proceed(step{}, w.joinFailed(cause.Failure))
	}
	return nil
}

// causesOf says what can happen to the states that wait. An interpreter can be continued
// at any state.
var causesOf = func() (causes [len(kindNames)]map[flow.CauseKind]bool) {
	for kind := range causes {
		causes[kind] = map[flow.CauseKind]bool{flow.Continue: true}
	}
	causes[waitState][flow.Ended] = true
	for _, cause := range []flow.CauseKind{flow.Ended, flow.Failed, flow.Taken, flow.Called} {
		causes[taskState][cause] = true
	}
	for _, kind := range []stateKind{parallelState, mapState} {
		causes[kind][flow.Joined], causes[kind][flow.JoinFailed] = true, true
	}
	return causes
}()

// begin starts the level that is asked about.
func (w *interpreter) begin() error {
	w.visits = map[string]int{}
	if w.ask.Index < 0 {
		input := textValue(w.ask.Cause.Input)
		if len(w.ask.Cause.Input) == 0 {
			input = emptyObject
		}
		w.started(input)
		level, err := w.top()
		if err != nil {
			return err
		}
		if t := level.timeout; t > 0 {
			w.growth.Deadline = w.ask.Now.Add(t)
		}
		w.run(level.start, input)
		return nil
	}
	return w.beginChild()
}

// top returns the level that the run begins with: the machine's, or what a
// distributed Map does with each item.
func (w *interpreter) top() (*level, error) {
	name := w.attributes().Map
	if name == "" {
		return w.machine.top, nil
	}
	if s := w.machine.states[name]; s != nil && s.items != nil {
		return s.items.processor, nil
	}
	return nil, fmt.Errorf("asl: %s: the definition has no Map state %q", w.machine.name, name)
}

// run visits states until one waits, the level ends, or the budget is spent.
func (w *interpreter) run(s *state, input *jsonValue) {
	for ; s != nil; w.budget-- {
		if w.budget <= 0 || w.spent >= jsonata.MaxSteps {
			w.growth.More = (&levelState{state: s.name, at: w.ask.Now, last: w.last, visits: w.visits, input: input}).encode()
			return
		}
		if w.ask.Done() {
			return
		}
		w.enter(s, input)
		out, f := w.visit()
		if s, input = w.settle(out, f); input == nil {
			return
		}
	}
	w.succeed(input)
}

// goOn goes on from where something was undone.
func (w *interpreter) goOn(out step, f *stateError) {
	if s, input := w.settled(out, f); input != nil {
		w.run(s, input)
	}
}

// proceed goes on from the end of a node.
func (w *interpreter) proceed(out step, f *stateError) {
	if s, input := w.settle(out, f); input != nil {
		w.run(s, input)
	}
}

// settle ends a visit: it leaves the state, or has an error retried or caught, or
// ends the level with it. It returns the next state, nil behind the last, and
// its input, nil when the interpreter is done.
func (w *interpreter) settle(out step, f *stateError) (*state, *jsonValue) {
	if f != nil {
		w.tell(f)
		out, f = w.rescue(f)
	}
	return w.settled(out, f)
}

// settled is settle for what can be neither retried nor caught any more.
func (w *interpreter) settled(out step, f *stateError) (*state, *jsonValue) {
	switch {
	case f != nil:
		w.tell(f)
		w.tellBroken()
		w.fail(f)
		return nil, nil
	case out.waits:
		return nil, nil
	}
	w.exit(out)
	return out.next, out.output
}

// tell completes the cause of an error with where it happened, and tells the
// history of an evaluation that failed.
func (w *interpreter) tell(f *stateError) {
	if !f.place {
		return
	}
	f.cause = fmt.Sprintf("An error occurred while executing the state '%s' (entered at the event id #%d). %s", w.state.name, w.entered, f.cause)
	f.place = false
	if f.name == statesQueryEvaluation {
		w.evaluationFailed(f)
	}
}

// visit does what a state does when it is entered.
func (w *interpreter) visit() (step, *stateError) {
	switch w.state.kind {
	case passState:
		return w.pass()
	case choiceState:
		return w.choose()
	case waitState:
		return w.wait()
	case succeedState:
		return w.waited()
	case failState:
		return step{}, w.failing()
	case taskState:
		return w.work()
	default:
		return w.fork()
	}
}

// seen returns what the fields of the state see: its input, after InputPath.
func (w *interpreter) seen() (*view, *stateError) {
	v := w.view(w.input)
	var f *stateError
	if v.input, f = v.apply(w.state.inputPath, w.input); f == nil {
		w.inspected(afterInputPath, v.input)
	}
	return v, f
}

// effective returns what the state works on: what it sees, or its Parameters.
func (w *interpreter) effective() (*jsonValue, *stateError) {
	v, f := w.seen()
	if f != nil {
		return nil, f
	}
	input := v.input
	if w.state.arguments != nil {
		if input, f = w.state.arguments.of(v); f == nil && input.tooLarge() {
			f = limitError(w.state.name)
		}
	}
	if f == nil {
		w.inspected(afterParameters, input)
	}
	return input, f
}

// view returns what expressions see when $ is d.
func (w *interpreter) view(d *jsonValue) *view { return &view{input: d, walk: w} }
