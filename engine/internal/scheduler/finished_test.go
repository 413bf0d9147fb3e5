package scheduler_test

import (
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// TestFinishedRunIsNotStopped ends runs from outside after each of their steps: an operator stops them, or their
// deadline passes. A run whose atoms have all succeeded, and which only has to come to rest, ends SUCCESS.
//
// Guarantee (G3): A run whose atoms have all succeeded ends SUCCESS, whatever stops it before it has come to rest.
func TestFinishedRunIsNotStopped(t *testing.T) {
	t.Parallel()
	stop := scheduler.OperatorCommand{Kind: scheduler.Stop, Why: &atom.Failure{Code: atom.CodeCancelled}}
	live := stop
	live.Undo, live.Live = true, true
	for name, root := range map[string]flow.Node{
		"tasks":   flow.Linear("f", failingTimes("a", 0), failingTimes("b", 0)),
		"growing": flow.Growing("f", toy{}),
	} {
		for what, event := range map[string]scheduler.Event{
			"stop":     {Kind: scheduler.CommandReceived, OperatorCommand: &stop},
			"cancel":   {Kind: scheduler.CommandReceived, OperatorCommand: &live},
			"deadline": {Kind: scheduler.Fired},
		} {
			if name == "growing" && what == "deadline" {
				continue // its language sets one
			}
			finished, ended := 0, false
			for at := 1; !ended; at++ {
				all, end := endedFromOutside(t, root, event, at)
				ended = end == states.FlowPending
				if all && !ended {
					finished++
					if end != states.FlowSuccess {
						t.Errorf("%s, %s after step %d: everything had succeeded, and the run is %v", name, what, at, end)
					}
				} else if !ended && end == states.FlowSuccess {
					t.Errorf("%s, %s after step %d: the run is SUCCESS", name, what, at)
				}
			}
			if finished == 0 {
				t.Errorf("%s, %s: it never came when everything had succeeded", name, what)
			}
		}
	}
}

// endedFromOutside plays a run in which an event comes after a step. It returns whether all atoms had succeeded then,
// and the end of the run, or FlowPending if the run had come to rest before the event.
func endedFromOutside(t *testing.T, root flow.Node, event scheduler.Event, at int) (all bool, end states.Flow) {
	t.Helper()
	plan, err := flow.Compile(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := scheduler.New(plan, nil, nil)
	done, came := 0, false
	waiting := []scheduler.Event{{Kind: scheduler.Begin, Fresh: true}}
	for n := 1; n < 1000; n++ {
		ev := scheduler.Event{Kind: scheduler.Idle}
		asked := len(waiting) > 0 && (waiting[0].Kind == scheduler.Grown || waiting[0].Kind == scheduler.Unwound)
		switch {
		case n > at && !came && !asked: // a question is answered first
			ev, came, all = event, true, done == len(plan.Atoms)
		case len(waiting) > 0:
			ev, waiting = waiting[0], waiting[1:]
		}
		for _, c := range s.Step(ev) {
			switch c.Op {
			case scheduler.Notify:
				if c.Unit.Planned != nil && c.To == states.TaskSuccess {
					done++
				}
			case scheduler.Execute, scheduler.Revert:
				waiting = append(waiting, scheduler.Event{
					Kind: scheduler.Completed, Unit: c.Unit, Revert: c.Op == scheduler.Revert, Result: atom.Null,
				})
			case scheduler.AskLanguage:
				growth := &grow.Growth{End: &grow.End{Value: atom.Null}}
				if c.Cause.Kind != grow.Begin && c.Cause.Kind != grow.Ended {
					growth.End.Cancelled = c.Cause.Kind == grow.Stopped
					growth.End.TimedOut = c.Cause.Kind == grow.Overdue
					growth.End.Failure = &atom.Failure{Code: "Stopped"}
				}
				waiting = append(waiting, scheduler.Event{Kind: scheduler.Grown, Growth: growth})
			case scheduler.AskUndo:
				waiting = append(waiting, scheduler.Event{Kind: scheduler.Unwound})
			case scheduler.Over:
				if !came {
					return false, states.FlowPending
				}
				return all, c.FlowTo
			default:
			}
		}
	}
	t.Fatal("it does not end")
	return false, 0
}
