package sm4c

import (
	"time"

	"github.com/ebbflow/ebb/flow"
)

// handle shows an error of the innermost action to its error handlers. The first
// whose condition holds says what becomes of it: the action is tried again, or
// its result is null; without one, or when the retries are used up, the action
// fails (decision 22).
func (w *interpreter) handle(f *stateError) step {
	fr := w.top()
	a := w.action(fr)
	shown := f.object(fr.tries + 1)
	for _, h := range a.handlers {
		holds, broken := w.holds(h, shown)
		if broken == nil && holds && h.result != nil {
			broken = w.merge(h.result, shown)
		}
		switch {
		case broken != nil:
			broken.action = f.action
			return w.outward(failed(broken))
		case !holds:
			continue
		case h.retry == nil:
			w.event("ErrorHandled", f.action, map[string]any{"code": f.code, "message": clip(f.message)})
			return w.outward(given(nullValue()))
		case fr.tries >= h.retry.times:
			return w.outward(failed(f))
		}
		fr.tries++
		after := h.retry.after(fr.tries, w.ask.Random)
		w.event("ActionRetried", f.action, map[string]any{
			"code": f.code, "message": clip(f.message), "retry": fr.tries, "after": after.String(),
		})
		return w.again(a, after)
	}
	return w.outward(failed(f))
}

func (w *interpreter) holds(h *handler, shown map[string]any) (bool, *stateError) {
	if h.condition == nil {
		return true, nil
	}
	run, f := w.outer()
	if f != nil {
		return false, f
	}
	data, f := run.data.value()
	if f != nil {
		return false, f
	}
	value, f := h.condition.evaluate(w.ask.Interrupted, shown, data)
	return value == true, f
}

// again tries the innermost action again: the node that failed itself, if one
// has, for it is the same call; else all of the action.
func (w *interpreter) again(a *action, after time.Duration) step {
	f := w.top()
	cause := &w.ask.Cause
	failedHere := (cause.Kind == flow.Failed || cause.Kind == flow.JoinFailed) && f.node != "" && cause.Name == f.node
	switch {
	case failedHere && w.growth.Again == nil:
		w.growth.Again = &flow.Again{After: after}
		f.begun = w.ask.Now
		w.limit(a, after)
		return nil
	case after == 0:
		return w.perform
	}
	f.node, f.role = w.node(a.name+"/pause", true), pause
	w.add(flow.Spec{Name: f.node, Kind: flow.Timer, Due: w.later(after)})
	return nil
}

// limit bounds how long a call is waited for: by a timer, so that it is as long
// when the process dies meanwhile.
func (w *interpreter) limit(a *action, after time.Duration) {
	if !a.timed || !a.calls() {
		return
	}
	f := w.top()
	f.timer = w.node(a.name+"/timeout", true)
	w.add(flow.Spec{Name: f.timer, Kind: flow.Timer, Due: w.later(after + a.span)})
}

// nodeEnded goes on behind the end of a node.
func (w *interpreter) nodeEnded() step {
	cause, m := &w.ask.Cause, w.mem
	if w.branch == nil && m.stage == waiting && m.wait != "" && cause.Name == m.wait {
		return w.timeIsUp()
	}
	if w.branch == nil && m.stage == calling {
		return w.callOver()
	}
	if len(m.frames) == 0 || !w.top().awaits(cause.Name) {
		w.unchanged = true // it is not waited for any more
		return nil
	}
	f := w.top()
	a := w.action(f)
	w.waited(f, a)
	switch {
	case cause.Name == f.timer:
		return w.waitedLongEnough(f, a)
	case f.role == pause:
		return w.perform
	}
	if f.timer != "" {
		w.growth.Drop = append(w.growth.Drop, f.timer)
		f.timer = ""
	}
	switch cause.Kind {
	case flow.Joined:
		return w.joined(a, cause.Results)
	case flow.JoinFailed:
		return w.settle(failed(storedError(cause.Failure)))
	case flow.Failed:
		return w.callFailed(a)
	default:
		if a.kind == delayAction || !a.waits {
			return w.settle(given(nullValue()))
		}
		return w.settle(given(valueOf(cause.Result)))
	}
}

// waitedLongEnough goes on without the end of a call: a function's is cancelled, a
// subflow goes on. The result is null, and no error.
func (w *interpreter) waitedLongEnough(f *frame, a *action) step {
	if a.kind == invokeSubflow {
		w.growth.Leave = append(w.growth.Leave, f.node)
	} else {
		w.growth.Drop = append(w.growth.Drop, f.node)
	}
	return w.settle(given(nullValue()))
}

// awaits reports whether the action goes on behind the end of a node.
func (f *frame) awaits(node string) bool {
	return !f.pending && node != "" && (node == f.node || node == f.timer)
}

// waited notes that time may have passed, so that transitions do not follow each
// other without a wait.
func (w *interpreter) waited(f *frame, a *action) {
	if w.branch == nil && (a.calls() || w.ask.Now.After(f.begun)) {
		w.mem.rested()
	}
}
