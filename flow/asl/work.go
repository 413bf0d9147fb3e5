package asl

import (
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// work adds the node that runs a Task state's task.
func (w *interpreter) work() (step, *stateError) {
	spec, f := w.workSpec(w.upcoming())
	if f != nil {
		return step{}, f
	}
	spec.Name, spec.Note = w.visitName(), w.note(w.remembers())
	w.growth.Add = append(w.growth.Add, spec)
	return step{waits: true}, nil
}

// workSpec returns the node of that name without its name and levelState, and tells the
// history that it is scheduled.
func (w *interpreter) workSpec(name string) (flow.Spec, *stateError) {
	t := w.state.task
	w.newToken()
	input, f := w.effective()
	if f != nil {
		return flow.Spec{}, f
	}
	timeout, f := w.amount(&t.timeout, 1, maxSeconds)
	if f != nil {
		return flow.Spec{}, f
	}
	heartbeat, f := w.amount(&t.heartbeat, 1, maxSeconds)
	if f != nil {
		return flow.Spec{}, f
	}
	role, f := w.role()
	if f != nil {
		return flow.Spec{}, f
	}
	w.scheduled(input, timeout, heartbeat, role)
	spec := flow.Spec{
		Kind: flow.Work, Task: t.uri, Input: input.encoded(),
		Timeout: time.Duration(timeout) * time.Second, Heartbeat: time.Duration(heartbeat) * time.Second,
	}
	if t.starts() {
		x, f := w.asked(input, name)
		if f != nil {
			w.attemptFailed(f)
			return flow.Spec{}, f
		}
		w.child = x
		w.start(&spec, x)
	} else {
		w.dispatchRemote(&spec)
	}
	if r := w.state.revert; r != nil && r.never {
		spec.Pivot = true
	} else if r != nil {
		spec.Undo = &flow.Undo{Task: r.uri, Note: w.state.name, Policy: r.policy()}
	}
	return spec, nil
}

// role returns the role that a task is to be run with, "" for none.
func (w *interpreter) role() (string, *stateError) {
	if w.state.task.credentials == nil {
		return "", nil
	}
	value, f := w.state.task.credentials.of(w.view(w.input))
	if f != nil {
		return "", f
	}
	tree, f := value.look()
	if f != nil {
		return "", f
	}
	credentials, _ := tree.(*jsontext.OrderedMap)
	named, _ := credentials.Get("RoleArn")
	role, ok := named.(string)
	if !ok {
		return "", runtimeError("The RoleArn of Credentials must be a string")
	}
	return role, nil
}

// remembers reports whether the state's raw input is needed once its work has
// begun: to hand it on, or to begin again.
func (w *interpreter) remembers() bool {
	s := w.state
	if s.out.needsInput() || len(s.retry) > 0 {
		return true
	}
	for i := range s.catch {
		if s.catch[i].out.needsInput() {
			return true
		}
	}
	return false
}

// taskEnded goes on with a task's result.
func (w *interpreter) taskEnded(text atom.Value) (step, *stateError) {
	if len(text) == 0 {
		text = atom.Null
	}
	result := textValue(text)
	if result.tooLarge() {
		f := limitError(w.taskName())
		f.local = false
		w.attemptFailed(f)
		return step{}, f
	}
	w.attemptSucceeded(result)
	return w.leave(&w.state.out, result)
}

// taskName is how the limit of a result's size calls the task.
func (w *interpreter) taskName() string {
	if t := w.state.task; t.action != "" {
		return t.service
	}
	return w.state.task.uri
}

// taskFailed goes on with a task's failure.
func (w *interpreter) taskFailed(failure *atom.Failure) *stateError {
	f := taskError(failure, w.taskName())
	w.attemptFailed(f)
	return f
}

// rescue asks the state's Retry, then its Catch, what is to become of an error.
func (w *interpreter) rescue(f *stateError) (step, *stateError) {
	s := w.state
	for i := range s.retry {
		r := s.retry[i]
		if !f.matchesAny(r.errors, w.machine.profile) {
			continue
		}
		for len(w.tries) < len(s.retry) {
			w.tries = append(w.tries, 0)
		}
		if int64(w.tries[i]) >= r.attempts {
			break
		}
		w.tries[i]++
		w.ctx, w.ctxQuery, w.broken = nil, nil, false
		return w.again(r.delay(w.tries[i], w.ask.Random))
	}
	w.tellBroken()
	for i := range s.catch {
		if f.matchesAny(s.catch[i].errors, w.machine.profile) {
			return w.catches(i, f)
		}
	}
	return step{}, f
}

// again has the state's node run once more: the node itself when it failed, a
// new one when it ended well and its result could not be used. If there was none
// yet, the state is begun again.
func (w *interpreter) again(after time.Duration) (step, *stateError) {
	due := w.ask.Now.Add(after)
	failed := w.ask.Cause.Kind == flow.Failed
	switch {
	case !w.attempted:
		w.paused = true
		w.growth.Add = append(w.growth.Add, flow.Spec{Name: w.visitName(), Kind: flow.Timer, Due: due, Note: w.note(true)})
		return step{waits: true}, nil
	case !failed && w.state.undoes():
		return w.compensate(&compensation{inside: true}, &intent{due: due})
	case failed:
		return w.workAgain(after)
	case w.ask.Cause.Kind == flow.JoinFailed:
		return w.forkAgain(after)
	}
	return w.anew(due)
}

// workAgain has the task run once more.
func (w *interpreter) workAgain(after time.Duration) (step, *stateError) {
	spec, f := w.workSpec(w.ask.Cause.Name)
	if f != nil {
		return step{}, f
	}
	w.growth.Again = &flow.Again{After: after, Note: w.note(true), Token: spec.Token, Child: spec.Child}
	if _, fixed := w.state.arguments.(*jsonValue); !fixed && w.state.arguments != nil { // they may look at the count of retries
		w.growth.Again.Input = spec.Input
	}
	return step{waits: true}, nil
}

// visitName returns the name of the next node of the state: Pay, then Pay#2.
// Names are escaped as in JSON pointers, for they become parts of paths, and a
// name that ends like a visit's number has the first one, too, so that no two
// nodes have one name.
func (w *interpreter) visitName() string {
	name := w.state.name
	n := w.retries() + 1
	if w.paused {
		n-- // it comes before the attempt
	}
	if w.state.repeats {
		w.visits[name]++
		n = w.visits[name]
	}
	return nodeName(name, n)
}

// upcoming returns what visitName is about to return.
func (w *interpreter) upcoming() string {
	before := w.visits[w.state.name]
	name := w.visitName()
	if w.state.repeats {
		w.visits[w.state.name] = before
	}
	return name
}

func nodeName(state string, n int) string {
	escaped := nodeEscaper.Replace(state)
	if _, number := splitVisit(state); n <= 1 && number == "" {
		return escaped
	}
	return escaped + "#" + strconv.Itoa(max(n, 1))
}

var (
	nodeEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	nodeUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// splitVisit cuts the visit's number off a node's name.
func splitVisit(name string) (rest, number string) {
	i := strings.LastIndexByte(name, '#')
	if i < 0 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// note returns what the interpreter has to remember while the state's node runs.
func (w *interpreter) note(withInput bool) atom.Value { return w.noted(withInput).encode() }

func (w *interpreter) noted(withInput bool) *levelState {
	n := &levelState{state: w.state.name, entered: w.entered, at: w.enteredAt, last: w.last, tries: w.tries, visits: w.visits, paused: w.paused, child: w.child}
	if withInput {
		n.input = w.input
	}
	return n
}
