package asl

import (
	"fmt"
	"maps"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// A walk answers one question: it goes from state to state as far as it can
// without waiting for anything.
type walk struct {
	machine *Machine
	ask     *flow.Ask
	growth  flow.Growth
	last    int64 // number of the event that the next one follows from

	vars    map[string]*datum // of this level; nil until they are asked for
	changed bool              // vars differ from the ask's memory
	group   *shared           // what the level's group shares; nil until it is asked for
	visits  map[string]int
	attrs   *Attributes // nil until they are asked for

	// The visit of a state that the walk is in.
	state     *state
	entered   int64
	enteredAt time.Time
	input     *datum // raw
	tries     []int
	attempted bool           // the state's node was run: there is something to try again
	ctx       map[string]any // the context object; nil until it is asked for
	drawn     int            // random numbers drawn when the ask gives none
}

// A step is what a visit to a state comes to.
type step struct {
	output   *datum
	next     *state // nil: the level ends
	assigned map[string]*datum
	waits    bool // a node was added: the walk ends here
}

// Grow answers one question of the engine.
func (m *Machine) Grow(ask *flow.Ask) flow.Growth {
	w := &walk{machine: m, ask: ask}
	if err := w.answer(); err != nil {
		w.growth = flow.Growth{End: &flow.End{Failure: &atom.Failure{Code: atom.CodeLanguage, Message: err.Error()}}}
		return w.growth
	}
	if w.changed {
		w.growth.Memory = atom.Value(appendData([]byte{atom.CodecJSON}, w.vars))
	}
	return w.growth
}

// answer does what the cause asks for. It returns an error only for a question
// that no engine asks of this definition, such as one about a state that it does
// not have.
func (w *walk) answer() error {
	cause := &w.ask.Cause
	switch cause.Kind {
	case flow.Begin:
		return w.begin()
	case flow.Overdue:
		w.overdue()
		return nil
	case flow.Stopped:
		w.stopped()
		return nil
	default:
		return w.resume()
	}
}

// resume goes on in the visit of a state that waited.
func (w *walk) resume() error {
	cause := &w.ask.Cause
	n, err := readNote(cause.Note)
	if err != nil {
		return err
	}
	if w.state = w.machine.states[n.state]; w.state == nil {
		return fmt.Errorf("asl: %s: the definition has no state %q", w.machine.name, n.state)
	}
	if !causesOf[w.state.kind][cause.Kind] {
		return fmt.Errorf("asl: %s: nothing that is %s can happen to the %s state %q", w.machine.name, cause.Kind, w.state.kind, n.state)
	}
	w.entered, w.enteredAt, w.input = n.entered, n.at, n.input
	if w.input == nil {
		w.input = &datum{} // nothing needs it
	}
	w.last, w.visits, w.tries = n.last, n.visits, n.tries
	w.attempted = cause.Kind != flow.Continue
	switch cause.Kind {
	case flow.Continue:
		w.run(w.state, w.input)
	case flow.Ended:
		if w.state.kind == waitState {
			w.proceed(w.waited())
		} else {
			w.proceed(w.taskEnded(cause.Result))
		}
	case flow.Failed:
		w.proceed(step{}, w.taskFailed(cause.Failure))
	case flow.Joined:
		w.proceed(w.joined(cause.Results))
	default:
		w.proceed(step{}, w.joinFailed(cause.Failure))
	}
	return nil
}

// causesOf says what can happen to the states that wait. A walk can be continued
// at any state.
var causesOf = func() (causes [len(kindNames)]map[flow.CauseKind]bool) {
	for kind := range causes {
		causes[kind] = map[flow.CauseKind]bool{flow.Continue: true}
	}
	causes[waitState][flow.Ended] = true
	causes[taskState][flow.Ended], causes[taskState][flow.Failed] = true, true
	for _, kind := range []stateKind{parallelState, mapState} {
		causes[kind][flow.Joined], causes[kind][flow.JoinFailed] = true, true
	}
	return causes
}()

// begin starts the level that is asked about.
func (w *walk) begin() error {
	w.visits = map[string]int{}
	if w.ask.Index < 0 {
		input := textDatum(w.ask.Cause.Input)
		if len(w.ask.Cause.Input) == 0 {
			input = emptyObject
		}
		w.started(input)
		if t := w.machine.timeout; t > 0 {
			w.growth.Deadline = w.ask.Now.Add(t)
		}
		w.run(w.machine.top.start, input)
		return nil
	}
	return w.beginChild()
}

// run visits states until one waits, the level ends, or the budget is spent.
func (w *walk) run(s *state, input *datum) {
	for budget := stepBudget; s != nil; budget-- {
		if budget == 0 {
			w.growth.More = (&note{state: s.name, at: w.ask.Now, last: w.last, visits: w.visits, input: input}).encode()
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

// proceed goes on from the end of a node.
func (w *walk) proceed(out step, f *fault) {
	if s, input := w.settle(out, f); input != nil {
		w.run(s, input)
	}
}

// settle ends a visit: it leaves the state, or has a fault retried or caught, or
// ends the level with it. It returns the next state, nil behind the last, and
// its input, nil when the walk is over.
func (w *walk) settle(out step, f *fault) (*state, *datum) {
	if f != nil {
		w.placed(f)
		out, f = w.rescue(f)
	}
	switch {
	case f != nil:
		w.fail(f)
		return nil, nil
	case out.waits:
		return nil, nil
	}
	w.exit(out)
	return out.next, out.output
}

// placed completes the cause of a fault with where it happened.
func (w *walk) placed(f *fault) {
	if f.place {
		f.cause = fmt.Sprintf("An error occurred while executing the state '%s' (entered at the event id #%d). %s", w.state.name, w.entered, f.cause)
		f.place = false
	}
}

// visit does what a state does when it is entered.
func (w *walk) visit() (step, *fault) {
	switch w.state.kind {
	case passState:
		return w.pass()
	case choiceState:
		return w.choose()
	case waitState:
		return w.wait()
	case succeedState:
		output, f := w.through(w.input)
		return step{output: output}, f
	case failState:
		return step{}, w.failing()
	case taskState:
		return w.work()
	default:
		return w.fork()
	}
}

// effective returns the state's input after InputPath and Parameters.
func (w *walk) effective() (*datum, *fault) {
	s := w.state
	input, f := w.view(w.input).apply(s.inputPath, w.input)
	if f == nil && s.parameters != nil {
		input, f = s.parameters.datum(w.view(input))
	}
	if f == nil && input != w.input && input.tooLarge() {
		f = limitFault(s.name)
	}
	return input, f
}

// through is the data processing of states without a result: InputPath, then
// OutputPath.
func (w *walk) through(input *datum) (*datum, *fault) {
	input, f := w.view(input).apply(w.state.inputPath, input)
	if f != nil {
		return nil, f
	}
	return w.outward(input)
}

// outward is the end of every state's data processing: OutputPath and the limit.
func (w *walk) outward(d *datum) (*datum, *fault) {
	d, f := w.view(d).apply(w.state.outputPath, d)
	if f == nil && d.tooLarge() {
		f = limitFault(w.state.name)
	}
	return d, f
}

// finish is the data processing of a state with a result: ResultSelector,
// ResultPath into the raw input, OutputPath, and Assign from the result.
func (w *walk) finish(result *datum) (step, *fault) {
	s := w.state
	var f *fault
	if s.resultSelector != nil {
		if result, f = s.resultSelector.datum(w.view(result)); f != nil {
			return step{}, f
		}
	}
	merged, f := w.merge(s.resultPath, result)
	if f != nil {
		return step{}, f
	}
	output, f := w.outward(merged)
	if f != nil {
		return step{}, f
	}
	assigned, f := w.assigned(s.assign, result)
	return step{output: output, next: s.next, assigned: assigned}, f
}

// merge puts a result into the raw input.
func (w *walk) merge(p resultPath, result *datum) (*datum, *fault) {
	switch {
	case p.none:
		return w.input, nil
	case p.path == nil:
		return result, nil
	}
	into, f := w.input.look()
	if f != nil {
		return nil, f
	}
	value, f := result.look()
	if f != nil {
		return nil, f
	}
	tree, err := p.path.Set(into, value)
	if err != nil {
		return nil, localFault(statesResultPath, "Unable to apply ReferencePath %s to input %s", p.path.Text(), w.input.encoded())
	}
	return treeDatum(tree), nil
}

// view returns what expressions see when $ is d.
func (w *walk) view(d *datum) *view { return &view{input: d, walk: w} }

// assigned evaluates an Assign, all of it before any variable changes.
func (w *walk) assigned(t *template, d *datum) (map[string]*datum, *fault) {
	if t == nil {
		return nil, nil
	}
	values := make(map[string]*datum, len(t.fields))
	v := w.view(d)
	for i := range t.fields {
		value, f := t.fields[i].value.datum(v)
		if f != nil {
			return nil, f
		}
		if value.tooLarge() {
			return nil, limitFault(w.state.name)
		}
		values[t.fields[i].name] = value
	}
	if !w.fits(values) {
		return nil, limitFault(w.state.name)
	}
	return values, nil
}

// fits reports whether the variables that can be seen stay within their limit
// when values are assigned.
func (w *walk) fits(values map[string]*datum) bool {
	sum := 0
	for name, value := range w.visible() {
		if values[name] == nil {
			sum += len(name) + len(value.encoded())
		}
	}
	for name, value := range values {
		sum += len(name) + len(value.encoded())
	}
	return sum <= maxVariables
}

// variable returns the value of a variable, or nil.
func (w *walk) variable(name string) *datum {
	if d := w.variables()[name]; d != nil {
		return d
	}
	return w.outer().outer[name]
}

// variables returns the level's own variables.
func (w *walk) variables() map[string]*datum {
	if w.vars == nil {
		w.vars = map[string]*datum{}
		if len(w.ask.Memory) > 0 {
			if vars, err := (&reader{text: w.ask.Memory.JSON()}).data(); err == nil {
				w.vars = vars
			}
		}
	}
	return w.vars
}

// outer returns what the level's group shares; nothing at the top.
func (w *walk) outer() *shared {
	if w.group == nil {
		w.group = &shared{}
		if w.ask.Index >= 0 {
			if group, err := readShared(w.ask.Shared); err == nil {
				w.group = group
			}
		}
	}
	return w.group
}

// visible returns every variable that can be seen.
func (w *walk) visible() map[string]*datum {
	all := maps.Clone(w.outer().outer)
	if all == nil {
		all = map[string]*datum{}
	}
	maps.Copy(all, w.variables())
	return all
}

// set changes variables.
func (w *walk) set(values map[string]*datum) {
	if len(values) > 0 {
		maps.Copy(w.variables(), values)
		w.changed = true
	}
}
