package asl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// fork goes through the branches of a Parallel state, or the iterations of a Map
// state, or adds the node that runs them.
func (w *interpreter) fork() (step, *stateError) {
	group, told, f := w.forkGroup()
	switch {
	case f != nil:
		return step{}, f
	case group.Count == 0: // a Map over nothing
		return w.levelsEnded(arrayOf(nil))
	case w.state.atOnce:
		return w.through(&progress{group: told, count: group.Count})
	}
	group.Shared = told.encode()
	w.growth.Add = append(w.growth.Add, flow.Spec{Name: w.visitName(), Kind: flow.Fork, Group: group, Note: w.note(w.remembers())})
	return step{waits: true}, nil
}

// forkGroup returns the levels as a group, and what they are to be told.
func (w *interpreter) forkGroup() (*flow.Group, *shared, *stateError) {
	s := w.state
	told := &shared{state: s.name, entered: w.entered, at: w.enteredAt, outer: w.visible()}
	group := &flow.Group{Count: len(s.branches)}
	var f *stateError
	switch {
	case s.kind == parallelState:
		if told.input, f = w.effective(); f != nil {
			return nil, nil, f
		}
		if item := w.mapContext(func(d *jsonValue) any { return d }); item != nil {
			told.item = treeValue(item)
		}
		w.event("ParallelStateStarted", nil)
	case s.items.distributed != nil:
		group.Count = 1 // the map run
		if f = w.distribute(told); f != nil {
			return nil, nil, f
		}
	default:
		if group.Count, group.Slots, f = w.mapOver(told); f != nil {
			return nil, nil, f
		}
		w.mapStarted(group.Count)
	}
	told.started = w.last
	return group, told, nil
}

// mapOver finds the items of a Map state, and how many may be at work at once.
func (w *interpreter) mapOver(told *shared) (count, slots int, f *stateError) {
	m := w.state.items
	v, f := w.seen()
	if f != nil {
		return 0, 0, f
	}
	if m.selector != nil {
		told.input = v.input
	}
	if told.items, f = w.items(v); f != nil {
		return 0, 0, f
	}
	tree, f := told.items.look()
	if f != nil {
		return 0, 0, f
	}
	items, ok := tree.([]any)
	if !ok {
		return 0, 0, w.noArray(told.items)
	}
	if w.read == nil {
		w.inspected(afterItemsPath, told.items)
	}
	most, f := w.amount(&m.concurrency, 0, math.MaxInt64)
	return len(items), int(min(most, maxSeconds)), f
}

// items returns what a Map state goes over, which may be no array.
func (w *interpreter) items(v *view) (*jsonValue, *stateError) {
	m := w.state.items
	switch {
	case w.read != nil:
		return w.read, nil
	case m.path != nil:
		value, missing, f := v.find(m.path)
		if f == nil && missing != nil { // AWS has a name and words of its own for it
			f = &stateError{name: statesReferencePath, cause: fmt.Sprintf("Unable to apply step \"%s\" to input %s", missing.Step, v.input.encoded()), local: true}
		}
		return treeValue(value), f
	case m.items != nil:
		items, f := m.items.of(v)
		if f == nil && items.tooLarge() {
			f = limitError(w.state.name)
		}
		return items, f
	}
	return v.input, nil
}

// noArray is what goes wrong when there is no array to go over.
func (w *interpreter) noArray(found *jsonValue) *stateError {
	m := w.state.items
	switch {
	case m.items != nil:
		return unexpected(&m.items.at, jsonata.Array, found)
	case w.state.language == inJSONata:
		return localError(statesQueryEvaluation, "Map state input must be an array but was: %s", shown(found))
	case m.path != nil:
		return runtimeError("Reference path \"%s\" must point to array.", underRoot(m.path))
	}
	return runtimeError("Reference path \"$\" must point to array.")
}

// forkAgain has all branches run once more.
func (w *interpreter) forkAgain(after time.Duration) (step, *stateError) {
	_, told, f := w.forkGroup()
	if f != nil {
		return step{}, f
	}
	w.growth.Again = &flow.Again{After: after, Note: w.note(true), Input: told.encode()}
	return step{waits: true}, nil
}

// beginChild starts a branch or an iteration.
func (w *interpreter) beginChild() error {
	group := w.group
	w.last = group.started
	s := w.machine.states[group.state]
	if s == nil {
		return fmt.Errorf("asl: %s: the definition has no state %q", w.machine.name, group.state)
	}
	w.state, w.entered, w.enteredAt = s, group.entered, group.at
	if s.kind == parallelState {
		if w.ask.Index >= len(s.branches) {
			return fmt.Errorf("asl: %s: the state %q has no branch %d", w.machine.name, s.name, w.ask.Index)
		}
		w.run(s.branches[w.ask.Index].start, group.input)
		return nil
	}
	input, f := w.item()
	if f != nil { // so the iteration never starts
		w.tell(f)
		w.fail(f)
		return nil
	}
	w.iterationEvent("MapIterationStarted", s.name, w.ask.Index)
	w.ctx, w.ctxQuery = nil, nil
	w.run(s.items.processor.start, input)
	return nil
}

// item returns the input of an iteration.
func (w *interpreter) item() (*jsonValue, *stateError) {
	item, ok := w.group.element(w.ask.Index)
	if !ok {
		return nil, runtimeError("there is no item %d", w.ask.Index)
	}
	selector := w.state.items.selector
	if selector == nil {
		return textValue(item), nil
	}
	w.input = w.group.input
	input, f := selector.of(w.view(w.input))
	if f == nil && input.tooLarge() {
		f = limitError(w.state.name)
	}
	return input, f
}

// joined goes on when every branch has ended well.
func (w *interpreter) joined(results []atom.Value) (step, *stateError) {
	w.childEnded()
	if s := w.state; s.items != nil && s.items.distributed != nil && len(results) == 1 { // the map run has put them together
		return w.levelsEnded(textValue(results[0]))
	}
	return w.levelsEnded(arrayOf(results))
}

// levelsEnded goes on with the result of a state all of whose levels have ended well.
func (w *interpreter) levelsEnded(result *jsonValue) (step, *stateError) {
	before := w.last
	w.event(w.state.kind.String()+"StateSucceeded", nil)
	told := w.last
	w.last = before // the exit follows from what the success follows from
	var out step
	f := limitError(w.state.name)
	if !result.tooLarge() {
		out, f = w.leave(&w.state.out, result)
	}
	if f != nil {
		w.last = told // and a failure from the success itself
	}
	return out, f
}

// arrayOf returns an array of results. Those who have none have null.
func arrayOf(results []atom.Value) *jsonValue {
	b := []byte{atom.CodecJSON, '['}
	for i, result := range results {
		if i > 0 {
			b = append(b, ',')
		}
		if len(result) == 0 {
			result = atom.Null
		}
		b = append(b, result.JSON()...)
	}
	return textValue(atom.Value(append(b, ']')))
}

// joinFailed goes on when a branch has failed and the others were ended.
func (w *interpreter) joinFailed(failure *atom.Failure) *stateError {
	w.childEnded()
	return w.levelFailed(failure, w.ask.Cause.Aborted)
}

// levelFailed goes on with the failure of a level, with which open nodes were ended.
func (w *interpreter) levelFailed(failure *atom.Failure, aborted []string) *stateError {
	f := taskError(failure, w.state.name)
	f.local = f.name == statesDataLimitExceeded
	if !f.ends(w.machine.profile) {
		w.aborted(aborted)
		w.broken = true
	}
	if name := profiles[w.machine.profile].branchFailure; name != "" && w.state.kind == parallelState {
		f = &stateError{name: name, also: f.name, cause: f.cause, local: true}
	}
	return f
}

// childEnded takes up the history where the child left it that decided the join.
func (w *interpreter) childEnded() {
	if note := w.ask.Cause.EndNote; len(note) > 0 {
		if last, err := jsontext.NewReader(note.JSON()).Int(); err == nil {
			w.last = last
		}
	}
}

// endNote is what a child tells its parent: the number of its last event.
func (w *interpreter) endNote() atom.Value { return encode(number(w.last)) }

// aborted tells the history of the nodes that were ended because a sibling
// failed or the run was.
func (w *interpreter) aborted(paths []string) {
	last := w.last
	iteration := ""
	for _, path := range paths {
		parts := strings.Split(strings.TrimPrefix(path, w.ask.Path+"/"), "/")
		if len(parts) > 1 && parts[0] != iteration {
			iteration = parts[0]
			if s, index := w.nodeState(parts[0]); s != nil && s.kind == mapState && index >= 0 && s.items.distributed == nil {
				w.iterationEvent("MapIterationAborted", s.name, index)
				w.last = last
			}
		}
		if w.ofMapRun(parts) {
			continue
		}
		s, _ := w.nodeState(parts[len(parts)-1])
		if s == nil {
			continue
		}
		if s.items != nil && s.items.distributed != nil {
			w.namedEvent("MapRunAborted", s.name)
			w.last = last
		}
		w.namedEvent(s.kind.String()+"StateAborted", s.name)
		w.last = last
	}
}

// ofMapRun reports whether a path leads into a map run, whose executions have
// histories of their own.
func (w *interpreter) ofMapRun(parts []string) bool {
	return slices.ContainsFunc(parts[:len(parts)-1], func(part string) bool {
		s, index := w.nodeState(part)
		return s != nil && index >= 0 && s.items != nil && s.items.distributed != nil
	})
}

// nodeState returns the state that a part of a path stands for, and the index of
// the child if it has one, else -1.
func (w *interpreter) nodeState(part string) (*state, int) {
	if open := strings.LastIndexByte(part, '['); open > 0 && strings.HasSuffix(part, "]") {
		if n, ok := asWhole(part[open+1 : len(part)-1]); ok {
			if s := w.machine.states[stateOf(part[:open])]; s != nil {
				return s, int(n)
			}
		}
	}
	return w.machine.states[stateOf(part)], -1
}

// stateOf returns the name of the state that a node was named after.
func stateOf(node string) string {
	name, _ := splitVisit(node)
	return nodeUnescaper.Replace(name)
}
