package asl

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// work adds the node that runs a Task state's task.
func (w *walk) work() (step, *fault) {
	spec, f := w.workSpec()
	if f != nil {
		return step{}, f
	}
	spec.Name, spec.Note = w.visitName(), w.note(w.remembers())
	w.growth.Add = append(w.growth.Add, spec)
	return step{waits: true}, nil
}

// workSpec returns the node without its name and note, and tells the history
// that it is scheduled.
func (w *walk) workSpec() (flow.Spec, *fault) {
	t := w.state.task
	input, f := w.effective()
	if f != nil {
		return flow.Spec{}, f
	}
	timeout, f := w.seconds(t.timeout, "TimeoutSecondsPath")
	if f != nil {
		return flow.Spec{}, f
	}
	heartbeat, f := w.seconds(t.heartbeat, "HeartbeatSecondsPath")
	if f != nil {
		return flow.Spec{}, f
	}
	role, f := w.role()
	if f != nil {
		return flow.Spec{}, f
	}
	w.scheduled(input, timeout, heartbeat, role)
	spec := flow.Spec{
		Kind: flow.Work, Task: t.resource, Input: input.encoded(),
		Timeout: time.Duration(timeout) * time.Second, Heartbeat: time.Duration(heartbeat) * time.Second,
	}
	if r := w.state.revert; r != nil {
		spec.Undo = &flow.Undo{Task: r.resource, Note: w.state.name}
	}
	return spec, nil
}

// seconds returns a length of time in seconds, 0 for none.
func (w *walk) seconds(d seconds, field string) (int64, *fault) {
	if d.path == nil {
		return d.fixed, nil
	}
	input, f := w.view(w.input).apply(w.state.inputPath, w.input)
	if f != nil {
		return 0, f
	}
	value, f := w.view(input).resolve(d.path)
	if f != nil {
		return 0, f
	}
	return positive(value, d.path, field, maxSeconds)
}

// positive returns a value that must be a whole number from 1, as a number or as
// the text of one.
func positive(value any, path *jsonpath.Path, field string, most int64) (int64, *fault) {
	n, ok := asWhole(value)
	if !ok || n < 1 || n > most {
		return 0, notInteger(value, path, field)
	}
	return n, nil
}

func notInteger(value any, path *jsonpath.Path, field string) *fault {
	return runtimeFault("The %s field refers to value \"%s\" which is not a valid integer: %s", field, plain(value), path.Text())
}

// plain returns a value as causes quote it: texts bare, all else as JSON.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return treeDatum(value).encoded().String()
}

// asWhole returns the integer that a number, or the text of one, stands for.
func asWhole(value any) (int64, bool) {
	switch v := value.(type) {
	case json.Number:
		return wholeNumber(string(v))
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// role returns the role that a task is to be run with, "" for none.
func (w *walk) role() (string, *fault) {
	if w.state.task.credentials == nil {
		return "", nil
	}
	value, f := w.state.task.credentials.evaluate(w.view(w.input))
	if f != nil {
		return "", f
	}
	role, ok := value.(map[string]any)["RoleArn"].(string)
	if !ok {
		return "", runtimeFault("The RoleArn of Credentials must be a string")
	}
	return role, nil
}

// remembers reports whether the state's raw input is needed once its work has
// begun: for ResultPath, or to begin again.
func (w *walk) remembers() bool {
	s := w.state
	if !s.resultPath.replaces() || len(s.retry) > 0 {
		return true
	}
	for i := range s.catch {
		if !s.catch[i].resultPath.replaces() {
			return true
		}
	}
	return false
}

// taskEnded goes on with a task's result.
func (w *walk) taskEnded(text atom.Value) (step, *fault) {
	if len(text) == 0 {
		text = atom.Null
	}
	result := textDatum(text)
	if result.tooLarge() {
		f := limitFault(w.taskName())
		f.local = false
		w.attemptFailed(f)
		return step{}, f
	}
	w.attemptSucceeded(result)
	return w.finish(result)
}

// taskName is how the limit of a result's size calls the task.
func (w *walk) taskName() string {
	if t := w.state.task; t.action != "" {
		return t.service
	}
	return w.state.task.resource
}

// taskFailed goes on with a task's failure.
func (w *walk) taskFailed(failure *atom.Failure) *fault {
	f := taskFault(failure, w.taskName())
	w.attemptFailed(f)
	return f
}

// rescue asks the state's Retry, then its Catch, what is to become of a fault.
func (w *walk) rescue(f *fault) (step, *fault) {
	s := w.state
	for i := range s.retry {
		r := &s.retry[i]
		if !f.matchesAny(r.errors) {
			continue
		}
		for len(w.tries) < len(s.retry) {
			w.tries = append(w.tries, 0)
		}
		if int64(w.tries[i]) >= r.attempts || !w.attempted {
			break // evaluating the same data once more would give the same
		}
		w.tries[i]++
		w.ctx = nil
		return w.again(r.delay(w.tries[i], w.ask.Random))
	}
	for i := range s.catch {
		if k := &s.catch[i]; f.matchesAny(k.errors) {
			return w.catches(k, f)
		}
	}
	return step{}, f
}

// again has the state's node run once more: the node itself when it failed, a
// new one when it ended well and its result could not be used.
func (w *walk) again(after time.Duration) (step, *fault) {
	if w.state.kind != taskState {
		return w.forkAgain(after)
	}
	spec, f := w.workSpec()
	if f != nil {
		return step{}, f
	}
	if w.ask.Cause.Kind == flow.Failed {
		w.growth.Again = &flow.Again{After: after, Note: w.note(true)}
		if p := w.state.parameters; p != nil && p.constant == nil { // they may look at the count of retries
			w.growth.Again.Input = spec.Input
		}
		return step{waits: true}, nil
	}
	spec.Name, spec.Note, spec.Due = w.visitName(), w.note(true), w.ask.Now.Add(after)
	w.growth.Add = append(w.growth.Add, spec)
	return step{waits: true}, nil
}

// catches leaves the state by a catcher.
func (w *walk) catches(k *catcher, f *fault) (step, *fault) {
	out := treeDatum(f.output())
	assigned, broken := w.assigned(k.assign, out)
	if broken != nil {
		w.placed(broken)
		return step{}, broken
	}
	merged, broken := w.merge(k.resultPath, out)
	if broken == nil && merged.tooLarge() {
		broken = limitFault(w.state.name)
	}
	if broken != nil {
		w.placed(broken)
		return step{}, broken
	}
	return step{output: merged, next: k.next, assigned: assigned}, nil
}

// visitName returns the name of the next node of the state: Pay, then Pay#2.
// Names are escaped as in JSON pointers, for they become parts of paths, and a
// name that ends like a visit's number has the first one, too, so that no two
// nodes have one name.
func (w *walk) visitName() string {
	name := w.state.name
	n := w.retries() + 1
	if w.state.repeats {
		w.visits[name]++
		n = w.visits[name]
	}
	escaped := nodeEscaper.Replace(name)
	if _, number := splitVisit(name); n == 1 && number == "" {
		return escaped
	}
	return escaped + "#" + strconv.Itoa(n)
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

// note returns what the walk has to remember while the state's node runs.
func (w *walk) note(withInput bool) atom.Value {
	n := note{state: w.state.name, entered: w.entered, at: w.enteredAt, last: w.last, tries: w.tries, visits: w.visits}
	if withInput {
		n.input = w.input
	}
	return n.encode()
}
