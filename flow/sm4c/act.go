package sm4c

import (
	"bytes"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// A result is how an action has ended.
type result struct {
	value *jsonValue
	fault *stateError
}

func failed(f *stateError) result { return result{fault: f} }
func given(d *jsonValue) result   { return result{value: d} }

// top returns the innermost of the actions that are being run.
func (w *interpreter) top() *frame { return &w.mem.frames[len(w.mem.frames)-1] }

func (w *interpreter) action(f *frame) *action { return w.machine.actions[f.action] }

// start begins an action within the one that is being run.
func (w *interpreter) start(a *action) step {
	w.mem.frames = append(w.mem.frames, frame{action: a.number})
	return w.perform
}

// seen returns what the actions of the flow see: what the view was, or the
// element of a foreach was, when the outermost of them began.
func (w *interpreter) seen() *jsonValue {
	switch {
	case w.branch != nil:
		return w.input
	case w.mem.input != nil:
		return w.mem.input
	case w.mem.stage == expiring:
		return w.mem.data
	}
	return w.viewed()
}

// perform does what the innermost action does.
func (w *interpreter) perform() step {
	f := w.top()
	f.node, f.timer, f.role, f.pending = "", "", itself, false
	if w.left == 0 {
		f.pending = true
		if w.branch != nil {
			w.growth.More = atom.Null
		}
		return nil
	}
	w.left--
	a := w.action(f)
	switch a.kind {
	case delayAction:
		return w.delay(a)
	case injectData:
		return w.settle(w.inject(a))
	case sequenceAction:
		f.child, f.results = 0, nil
		return w.start(a.children[0])
	case parallelAction:
		return w.parallel(a)
	case foreachAction:
		return w.foreach(a)
	case invokeFunction:
		return w.invokeFunction(a)
	case invokeSubflow:
		return w.invokeSubflow(a)
	default:
		return w.settle(w.send(a))
	}
}

func (w *interpreter) delay(a *action) step {
	if a.span == 0 {
		return w.settle(given(nullValue()))
	}
	f := w.top()
	f.node = w.node(a.name, a.repeats)
	w.add(flow.Spec{Name: f.node, Kind: flow.Timer, Due: w.later(a.span)})
	return nil
}

func (w *interpreter) inject(a *action) result {
	value, f := w.read(a.expression)
	if f != nil {
		return failed(f)
	}
	return given(treeValue(value))
}

// read evaluates an expression on what the actions see.
func (w *interpreter) read(e *expression) (any, *stateError) {
	input, f := w.seen().value()
	if f != nil {
		return nil, f
	}
	return e.evaluate(w.ask.Interrupted, input)
}

// settle ends the innermost action with a result: an error is first shown to its
// error handlers.
func (w *interpreter) settle(r result) step {
	return func() step {
		if r.fault == nil {
			return w.outward(r)
		}
		if r.fault.action == "" {
			r.fault.action = w.action(w.top()).title
		}
		return w.handle(r.fault)
	}
}

// outward leaves the innermost action with its result, and goes on in the one
// around it.
func (w *interpreter) outward(r result) step {
	m := w.mem
	key := w.action(w.top()).key
	m.frames = m.frames[:len(m.frames)-1]
	if len(m.frames) == 0 {
		if w.branch != nil {
			return w.branchEnded(r)
		}
		return w.rootEnded(r)
	}
	f := w.top() // a sequence: others have flows of their own for their children
	if r.fault != nil {
		return w.settle(r)
	}
	text, broken := r.value.text()
	if broken != nil {
		return w.settle(failed(broken))
	}
	f.results = append(f.results, member(key, text))
	a := w.action(f)
	if f.child++; f.child < len(a.children) {
		return w.start(a.children[f.child])
	}
	return w.settle(given(textValue(objectOf(f.results))))
}

// objectOf returns an object of members that are JSON text already.
func objectOf(members [][]byte) []byte {
	return slices.Concat([]byte{'{'}, bytes.Join(members, []byte{','}), []byte{'}'})
}
