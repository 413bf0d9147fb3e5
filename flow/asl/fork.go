package asl

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// fork adds the node that runs the branches of a Parallel state, or the
// iterations of a Map state.
func (w *walk) fork() (step, *fault) {
	group, f := w.forkGroup()
	if f != nil {
		return step{}, f
	}
	if group.Count == 0 { // a Map over nothing
		return w.joined(nil)
	}
	w.growth.Add = append(w.growth.Add, flow.Spec{Name: w.visitName(), Kind: flow.Fork, Group: group, Note: w.note(w.remembers())})
	return step{waits: true}, nil
}

func (w *walk) forkGroup() (*flow.Group, *fault) {
	s := w.state
	told := &shared{state: s.name, entered: w.entered, at: w.enteredAt, outer: w.visible()}
	group := &flow.Group{Count: len(s.branches)}
	var f *fault
	if s.kind == parallelState {
		if told.input, f = w.effective(); f != nil {
			return nil, f
		}
		told.item = w.mapContext()
		w.event("ParallelStateStarted", nil)
	} else {
		if group.Count, group.Slots, f = w.mapOver(told); f != nil {
			return nil, f
		}
		var details object
		details.integer("length", int64(group.Count))
		w.event("MapStateStarted", details.value())
	}
	told.started = w.last
	group.Shared = told.encode()
	return group, nil
}

// mapOver finds the items of a Map state, and how many may be at work at once.
func (w *walk) mapOver(told *shared) (count, slots int, f *fault) {
	m := w.state.items
	input, f := w.view(w.input).apply(w.state.inputPath, w.input)
	if f != nil {
		return 0, 0, f
	}
	told.items, told.input = input, input
	path := "$"
	if m.path != nil {
		path = m.path.Text()
		value, f := w.view(input).resolve(m.path)
		if f != nil {
			return 0, 0, f
		}
		told.items = treeDatum(value)
	}
	if m.selector == nil {
		told.input = nil // nothing looks at it
	}
	tree, f := told.items.look()
	if f != nil {
		return 0, 0, f
	}
	items, ok := tree.([]any)
	if !ok {
		return 0, 0, runtimeFault("Reference path \"%s\" must point to array.", path)
	}
	most := m.concurrency
	if m.concPath != nil {
		value, f := w.view(input).resolve(m.concPath)
		if f != nil {
			return 0, 0, f
		}
		if most, ok = asWhole(value); !ok || most < 0 {
			return 0, 0, notInteger(value, m.concPath, "MaxConcurrencyPath")
		}
	}
	return len(items), int(min(most, maxSeconds)), nil
}

// forkAgain has all branches run once more.
func (w *walk) forkAgain(after time.Duration) (step, *fault) {
	group, f := w.forkGroup()
	if f != nil {
		return step{}, f
	}
	if w.ask.Cause.Kind == flow.JoinFailed {
		w.growth.Again = &flow.Again{After: after, Note: w.note(true), Input: group.Shared}
		return step{waits: true}, nil
	}
	w.growth.Add = append(w.growth.Add, flow.Spec{Name: w.visitName(), Kind: flow.Fork, Group: group, Note: w.note(true), Due: w.ask.Now.Add(after)})
	return step{waits: true}, nil
}

// beginChild starts a branch or an iteration.
func (w *walk) beginChild() error {
	group, err := readShared(w.ask.Shared)
	if err != nil {
		return err
	}
	w.group, w.last = group, group.started
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
	w.iterationEvent("MapIterationStarted", s.name, w.ask.Index)
	input, f := w.item()
	if f != nil {
		w.placed(f)
		w.fail(f)
		return nil
	}
	w.ctx = nil
	w.run(s.items.processor.start, input)
	return nil
}

// item returns the input of an iteration.
func (w *walk) item() (*datum, *fault) {
	item, ok := w.group.items.encoded().Index(w.ask.Index)
	if !ok {
		return nil, runtimeFault("there is no item %d", w.ask.Index)
	}
	selector := w.state.items.selector
	if selector == nil {
		return textDatum(item), nil
	}
	input, f := selector.datum(w.view(w.group.input))
	if f == nil && input.tooLarge() {
		f = limitFault(w.state.name)
	}
	return input, f
}

// joined goes on when every branch has ended well.
func (w *walk) joined(results []atom.Value) (step, *fault) {
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
	w.childEnded()
	before := w.last
	w.event(w.state.kind.String()+"StateSucceeded", nil)
	w.last = before // the exit follows from what the success follows from
	result := textDatum(atom.Value(append(b, ']')))
	if result.tooLarge() {
		return step{}, limitFault(w.state.name)
	}
	return w.finish(result)
}

// joinFailed goes on when a branch has failed and the others were ended.
func (w *walk) joinFailed(failure *atom.Failure) *fault {
	w.childEnded()
	w.aborted(w.ask.Cause.Aborted)
	w.event(w.state.kind.String()+"StateFailed", nil)
	f := taskFault(failure, w.state.name)
	f.local = f.name == statesDataLimitExceeded
	return f
}

// childEnded takes up the history where the child left it that decided the join.
func (w *walk) childEnded() {
	if note := w.ask.Cause.EndNote; len(note) > 0 {
		r := &reader{text: note.JSON()}
		if last, err := r.integer(); err == nil {
			w.last = last
		}
	}
}

// endNote is what a child tells its parent: the number of its last event.
func (w *walk) endNote() atom.Value { return encode(number(w.last)) }

// aborted tells the history of the nodes that were ended because a sibling
// failed or the run was.
func (w *walk) aborted(paths []string) {
	last := w.last
	iteration := ""
	for _, path := range paths {
		parts := strings.Split(strings.TrimPrefix(path, w.ask.Path+"/"), "/")
		if len(parts) > 1 && parts[0] != iteration {
			iteration = parts[0]
			if s, index := w.nodeState(parts[0]); s != nil && s.kind == mapState && index >= 0 {
				w.iterationEvent("MapIterationAborted", s.name, index)
				w.last = last
			}
		}
		if s, _ := w.nodeState(parts[len(parts)-1]); s != nil {
			w.namedEvent(s.kind.String()+"StateAborted", s.name)
			w.last = last
		}
	}
}

// nodeState returns the state that a part of a path stands for, and the index of
// the child if it has one, else -1.
func (w *walk) nodeState(part string) (*state, int) {
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
