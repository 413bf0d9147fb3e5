package asl

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Tasks that another party ends: a called service by the token of .waitForTaskToken,
// or a worker of an activity.

// isRemote reports whether a task's attempt waits for another party, under a token.
func (t *task) isRemote() bool { return t.activity || t.pattern == patternToken }

// dispatchRemote lets the holder of the attempt's token end the attempt. The holder
// is the called service, or the worker that takes work of the activity's ARN.
func (w *interpreter) dispatchRemote(spec *flow.Spec) {
	switch t := w.state.task; {
	case t.activity:
		spec.Token, spec.Queue, spec.Task = w.token, t.uri, ""
	case t.pattern == patternToken:
		spec.Token, spec.Report = w.token, true
	}
}

// newToken begins an attempt with a token of its own.
func (w *interpreter) newToken() {
	if t := w.state.task; t.isRemote() || t.starts() && t.pattern != "" {
		w.token, w.ctx, w.ctxQuery = w.ask.Token(), nil, nil
	}
}

// taken tells the history that a worker took the work of an activity, or that a
// task with a token has answered its call; n is the node's levelState.
func (w *interpreter) taken(n *levelState) {
	t := w.state.task
	if cause := &w.ask.Cause; cause.Kind == flow.Called && cause.Run && n.child != nil {
		w.submitted(w.startedAnswer(n.child, w.ask.Now))
	} else if cause.Kind == flow.Called {
		w.submitted(cause.Result)
	} else {
		details := newDetails()
		if worker, err := jsontext.NewReader(cause.Result.JSON()).String(); err == nil && worker != "" {
			details.String("workerName", worker)
		}
		w.event(t.events()+"Started", ended(details))
	}
	n.last = w.last
	w.growth.Note = n.encode()
}

// submitted tells the history what the first of a task's two parts gave.
func (w *interpreter) submitted(output atom.Value) {
	w.record(flow.Event{Type: "TaskSubmitted", Name: w.state.name, Details: w.state.task.details(), Key: "output", Body: output})
}
