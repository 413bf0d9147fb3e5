package interpreter

import (
	"bytes"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
)

// A result is the result of an action that has ended.
type result struct {
	value *jsonValue
	fault *stateerror.Error
}

func failed(f *stateerror.Error) result { return result{fault: f} }
func given(d *jsonValue) result         { return result{value: d} }

// top returns the frame of the innermost running action.
func (w *interpreter) top() *frame { return &w.mem.frames[len(w.mem.frames)-1] }

func (w *interpreter) action(f *frame) *syntax.Action { return w.machine.Actions[f.action] }

// start starts an action within the innermost running action.
func (w *interpreter) start(a *syntax.Action) step {
	w.mem.frames = append(w.mem.frames, frame{action: a.Number})
	return w.perform
}

// seen returns the value that the actions of the flow see: the view, or the element of a foreach, at the time when
// the outermost action started.
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

// perform runs the innermost action.
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
	switch a.Kind {
	case syntax.DelayAction:
		return w.delay(a)
	case syntax.InjectData:
		return w.settle(w.inject(a))
	case syntax.SequenceAction:
		f.child, f.results = 0, nil
		return w.start(a.Children[0])
	case syntax.ParallelAction:
		return w.parallel(a)
	case syntax.ForeachAction:
		return w.foreach(a)
	case syntax.InvokeFunction:
		return w.invokeFunction(a)
	case syntax.InvokeSubflow:
		return w.invokeSubflow(a)
	default:
		return w.settle(w.send(a))
	}
}

func (w *interpreter) delay(a *syntax.Action) step {
	if a.Span == 0 {
		return w.settle(given(nullValue()))
	}
	f := w.top()
	f.node = w.node(a.Name, a.Repeats)
	w.add(grow.Spec{Name: f.node, Kind: grow.Timer, Due: w.later(a.Span)})
	return nil
}

func (w *interpreter) inject(a *syntax.Action) result {
	value, f := w.read(a.Expression)
	if f != nil {
		return failed(f)
	}
	return given(treeValue(value))
}

// read evaluates an expression on the value that the actions see.
func (w *interpreter) read(e *syntax.Expression) (any, *stateerror.Error) {
	input, f := w.seen().value()
	if f != nil {
		return nil, f
	}
	return e.Evaluate(w.ask.Interrupted, input)
}

// settle ends the innermost action with a result. An error first goes to the action's error handlers.
func (w *interpreter) settle(r result) step {
	return func() step {
		if r.fault == nil {
			return w.outward(r)
		}
		if r.fault.Action == "" {
			r.fault.Action = w.action(w.top()).Title
		}
		return w.handle(r.fault)
	}
}

// outward leaves the innermost action with its result, and continues with the action around it.
func (w *interpreter) outward(r result) step {
	m := w.mem
	key := w.action(w.top()).Key
	m.frames = m.frames[:len(m.frames)-1]
	if len(m.frames) == 0 {
		if w.branch != nil {
			return w.branchEnded(r)
		}
		return w.rootEnded(r)
	}
	f := w.top() // a sequence: the children of the other kinds run in flows of their own
	if r.fault != nil {
		return w.settle(r)
	}
	text, broken := r.value.text()
	if broken != nil {
		return w.settle(failed(broken))
	}
	f.results = append(f.results, member(key, text))
	a := w.action(f)
	if f.child++; f.child < len(a.Children) {
		return w.start(a.Children[f.child])
	}
	return w.settle(given(textValue(objectOf(f.results))))
}

// objectOf returns a JSON object of members that are already JSON text.
func objectOf(members [][]byte) []byte {
	return slices.Concat([]byte{'{'}, bytes.Join(members, []byte{','}), []byte{'}'})
}
