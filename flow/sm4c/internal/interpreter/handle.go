package interpreter

import (
	"time"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
)

// handle passes an error of the innermost action to its error handlers. The first one whose condition holds
// decides: the action is retried, or its result is null. If no condition holds, or the retries are used up, the
// action fails (decision 22).
func (w *interpreter) handle(f *stateerror.Error) step {
	fr := w.top()
	a := w.action(fr)
	shown := f.Object(fr.tries + 1)
	for _, h := range a.Handlers {
		holds, broken := w.holds(h, shown)
		if broken == nil && holds && h.Result != nil {
			broken = w.merge(h.Result, shown)
		}
		switch {
		case broken != nil:
			broken.Action = f.Action
			return w.outward(failed(broken))
		case !holds:
			continue
		case h.Retry == nil:
			w.machine.Through(h)
			w.event("ErrorHandled", f.Action, map[string]any{"code": f.Code, "message": clip(f.Message)})
			return w.outward(given(nullValue()))
		case fr.tries >= h.Retry.Times:
			return w.outward(failed(f))
		}
		fr.tries++
		w.machine.Through(h)
		after := h.Retry.After(fr.tries, w.ask.Random)
		w.event("ActionRetried", f.Action, map[string]any{
			"code": f.Code, "message": clip(f.Message), "retry": fr.tries, "after": after.String(),
		})
		return w.again(a, after)
	}
	return w.outward(failed(f))
}

func (w *interpreter) holds(h *syntax.Handler, shown map[string]any) (bool, *stateerror.Error) {
	if h.Condition == nil {
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
	value, f := h.Condition.Evaluate(w.ask.Interrupted, shown, data)
	return value == true, f
}

// again retries the innermost action. If its node failed, again repeats that node, because it is the same call;
// otherwise it repeats the whole action.
func (w *interpreter) again(a *syntax.Action, after time.Duration) step {
	f := w.top()
	cause := &w.ask.Cause
	failedHere := (cause.Kind == grow.Failed || cause.Kind == grow.JoinFailed) && f.node != "" && cause.Name == f.node
	switch {
	case failedHere && w.growth.Again == nil:
		w.growth.Again = &grow.Again{After: after}
		f.begun = w.ask.Now
		w.limit(a, after)
		return nil
	case after == 0:
		return w.perform
	}
	f.node, f.role = w.node(a.Name+"/pause", true), pause
	w.add(grow.Spec{Name: f.node, Kind: grow.Timer, Due: w.later(after)})
	return nil
}

// limit bounds how long the machine waits for a call. It uses a timer, so the limit also holds if the process dies.
func (w *interpreter) limit(a *syntax.Action, after time.Duration) {
	if !a.Timed || !a.Calls() {
		return
	}
	f := w.top()
	f.timer = w.node(a.Name+"/timeout", true)
	w.add(grow.Spec{Name: f.timer, Kind: grow.Timer, Due: w.later(after + a.Span), Limits: true})
}

// nodeEnded continues after the end of a node.
func (w *interpreter) nodeEnded() step {
	cause, m := &w.ask.Cause, w.mem
	if w.branch == nil && m.stage == waiting && m.wait != "" && cause.Name == m.wait {
		return w.timeIsUp()
	}
	if w.branch == nil && m.stage == calling {
		return w.callOver()
	}
	if len(m.frames) == 0 || !w.top().awaits(cause.Name) {
		w.unchanged = true // the machine no longer waits for the node
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
	case grow.Joined:
		return w.joined(a, cause.Results)
	case grow.JoinFailed:
		return w.settle(failed(stateerror.Stored(cause.Failure)))
	case grow.Failed:
		return w.callFailed(a)
	default:
		if a.Kind == syntax.DelayAction || !a.Waits {
			return w.settle(given(nullValue()))
		}
		return w.settle(given(valueOf(cause.Result)))
	}
}

// waitedLongEnough continues without the end of a call: a function is cancelled, a subflow continues. The result is
// null, and not an error.
func (w *interpreter) waitedLongEnough(f *frame, a *syntax.Action) step {
	if a.Kind == syntax.InvokeSubflow {
		w.growth.Leave = append(w.growth.Leave, f.node)
	} else {
		w.growth.Drop = append(w.growth.Drop, f.node)
	}
	return w.settle(given(nullValue()))
}

// awaits reports whether the action continues after the end of a node.
func (f *frame) awaits(node string) bool {
	return !f.pending && node != "" && (node == f.node || node == f.timer)
}

// waited records that time may have passed, so that the transitions before and after do not count as a row.
func (w *interpreter) waited(f *frame, a *syntax.Action) {
	if w.branch == nil && (a.Calls() || w.ask.Now.After(f.begun)) {
		w.mem.rested()
	}
}
