package swf_test

import (
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
)

type simNode struct {
	run                *simRun
	spec               grow.Spec
	seq                int
	began, taken, beat time.Time
	details            atom.Value // of the last heartbeat
	gaveUp, over       bool
	child              *simRun
	ends               time.Time // of a task of the engine
	taskEnd            grow.Cause
}

// call lets the engine call the task of a node.
func (n *simNode) call() {
	w := n.run.world
	if n.spec.Task == swf.UndoTask {
		n.findUndo()
		return
	}
	var in struct {
		FunctionName string
		Payload      json.RawMessage
	}
	if err := n.spec.Input.Decode(&in); err != nil || n.spec.Task != swf.LambdaTask {
		w.t.Fatalf("task %s of %s: %v", n.spec.Task, n.spec.Input, err)
	}
	result, failure, after := string(in.Payload), (*atom.Failure)(nil), time.Duration(0)
	if w.function != nil {
		result, failure, after = w.function(in.FunctionName, in.Payload)
	}
	n.ends, n.taskEnd = w.now.Add(after), grow.Cause{Kind: grow.Failed, Failure: failure}
	if failure == nil {
		n.taskEnd = grow.Cause{Kind: grow.Ended, Result: atom.FromJSON([]byte(`{"StatusCode":200,"Payload":` + result + `}`))}
	}
	if n.spec.Timeout > 0 && after > n.spec.Timeout {
		n.ends, n.taskEnd = w.now.Add(n.spec.Timeout), grow.Cause{Kind: grow.Failed, Failure: &atom.Failure{Code: atom.CodeTimeout}}
	}
}

// findUndo finds what an execution that undoes has to undo next.
func (n *simNode) findUndo() {
	w := n.run.world
	n.ends = w.now.Add(time.Millisecond)
	var ask swf.UndoAsk
	if err := n.spec.Input.Decode(&ask); err != nil {
		w.t.Fatal(err)
	}
	if w.broken > 0 {
		w.broken--
		n.taskEnd = grow.Cause{Kind: grow.Failed, Failure: &atom.Failure{Code: "Boom"}}
		return
	}
	step, err := swf.NextUndo(&ask, func(before int64) iter.Seq2[swf.NumberedEvent, error] {
		return func(yield func(swf.NumberedEvent, error) bool) {
			of := w.runs[ask.RunID]
			for i := min(before-2, int64(len(of.events))-1); i >= 0 && !w.lost; i-- {
				if !yield(swf.NumberedEvent{Number: i + 1, Event: of.events[i]}, nil) {
					return
				}
			}
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if i := slices.IndexFunc(activityTypes, func(k swf.KnownActivityType) bool { return k.Type == step.By }); i >= 0 && step.Item != nil {
		step.Known = &activityTypes[i]
	}
	n.taskEnd = grow.Cause{Kind: grow.Ended, Result: atom.MustEncode(step)}
}

func (n *simNode) endWith(c grow.Cause) {
	if !n.over {
		n.run.ask(c, n)
	}
}

// due returns when something happens to a node by itself, and what.
func (n *simNode) due() (at time.Time, cause grow.Cause) {
	earliest := func(t time.Time, c grow.Cause) {
		if at.IsZero() || t.Before(at) {
			at, cause = t, c
		}
	}
	limit := func(from time.Time, d time.Duration, code string) {
		if !from.IsZero() && d > 0 {
			f := &atom.Failure{Code: code}
			if code == atom.CodeHeartbeatLost || code == atom.CodeStartToClose || code == atom.CodeTimeout {
				f.Details = n.details
			}
			earliest(from.Add(d), grow.Cause{Kind: grow.Failed, Failure: f})
		}
	}
	switch s := &n.spec; {
	case s.Kind == grow.Timer:
		earliest(s.Due, grow.Cause{Kind: grow.Ended})
	case s.Kind == grow.Work && s.Token == "":
		earliest(n.ends, n.taskEnd)
	case s.Kind == grow.Work:
		limit(n.began, s.Timeout, atom.CodeTimeout)
		if n.taken.IsZero() {
			limit(n.began, s.ToStart, atom.CodeScheduleToStart)
			break
		}
		limit(n.taken, s.ToClose, atom.CodeStartToClose)
		beat := n.taken
		if n.beat.After(beat) {
			beat = n.beat
		}
		limit(beat, s.Heartbeat, atom.CodeHeartbeatLost)
	}
	return at, cause
}
