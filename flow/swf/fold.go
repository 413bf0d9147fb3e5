package swf

import (
	"encoding/json"
	"fmt"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// A Fold computes from the history of an execution what is open in it: pass each event to [Fold.Add], then read the
// counts. They must equal what [Describe] reads from the memory of the run, so that a run can be checked against its
// history.
type Fold struct {
	Closed  bool
	Events  int64
	Started int64 // the started decision task: its DecisionTaskStarted event; 0 for none

	scheduled map[int64]string // what is open, by the event that created it
	decision  int64            // the scheduled decision task
}

// Add appends the next event of the history. The error says what is wrong with it: an event after the closing one, a
// reference to an event that is not open, or a second decision task that is started or scheduled.
func (f *Fold) Add(e *grow.Event) error {
	f.Events++
	if f.scheduled == nil {
		f.scheduled = map[int64]string{}
	}
	entry := history.ByType(e.Type)
	var a map[string]json.RawMessage
	if err := e.Details.Decode(&a); err != nil || entry == nil {
		return fmt.Errorf("event %d has the unknown type %q, or attributes that cannot be read: %w", f.Events, e.Type, err)
	}
	if f.Closed {
		return fmt.Errorf("event %d, %s, follows the closing event", f.Events, e.Type)
	}
	if err := f.apply(e.Type, func(name string) (n int64) {
		_ = json.Unmarshal(a[name], &n) // 0 if it is absent
		return n
	}); err != nil {
		return fmt.Errorf("event %d, %s: %w", f.Events, e.Type, err)
	}
	f.Closed = entry.Closes
	return nil
}

// apply opens or ends what the event is about. ref returns the id of an event that it refers to.
func (f *Fold) apply(event string, ref func(string) int64) error {
	switch event {
	case history.DecisionScheduled:
		if f.decision != 0 {
			return fmt.Errorf("a decision task is scheduled, by event %d", f.decision)
		}
		f.decision = f.Events
	case history.DecisionStarted:
		if f.Started != 0 || f.decision == 0 || ref("scheduledEventId") != f.decision {
			return fmt.Errorf("the scheduled decision task is %d, and %d is started", f.decision, f.Started)
		}
		f.Started, f.decision = f.Events, 0
	case history.DecisionCompleted:
		return f.decisionEnded(ref("startedEventId"))
	case history.DecisionTimedOut:
		if ref("startedEventId") == 0 {
			if f.decision != ref("scheduledEventId") {
				return fmt.Errorf("the scheduled decision task is %d", f.decision)
			}
			f.decision = 0
			return nil
		}
		return f.decisionEnded(ref("startedEventId"))
	case history.ActivityScheduled, history.TimerStarted, history.ChildInitiated, history.LambdaScheduled:
		f.scheduled[f.Events] = event
	case history.ActivityCompleted, history.ActivityFailed, history.ActivityTimedOut, history.ActivityCanceled:
		return f.ended(history.ActivityScheduled, ref("scheduledEventId"))
	case history.TimerFired, history.TimerCanceled:
		return f.ended(history.TimerStarted, ref("startedEventId"))
	case history.LambdaCompleted, history.LambdaFailed, history.LambdaTimedOut, history.StartLambdaFailed:
		return f.ended(history.LambdaScheduled, ref("scheduledEventId"))
	case history.StartChildFailed:
		if n := ref("initiatedEventId"); n != 0 {
			return f.ended(history.ChildInitiated, n)
		}
	case history.ChildCompleted, history.ChildFailed, history.ChildTimedOut, history.ChildCanceled,
		history.ChildTerminated:
		return f.ended(history.ChildInitiated, ref("initiatedEventId"))
	}
	return nil
}

func (f *Fold) decisionEnded(started int64) error {
	if f.Started != started {
		return fmt.Errorf("the started decision task is %d, not %d", f.Started, started)
	}
	f.Started = 0
	return nil
}

func (f *Fold) ended(what string, event int64) error {
	if f.scheduled[event] != what {
		return fmt.Errorf("what event %d created is not open", event)
	}
	delete(f.scheduled, event)
	return nil
}

// Counts returns how much is open. After the closing event only the activities count that were open then.
func (f *Fold) Counts() (c OpenCounts) {
	for _, what := range f.scheduled {
		if what == history.ActivityScheduled {
			c.OpenActivityTasks++
		}
	}
	if f.Closed {
		return c
	}
	if f.decision != 0 || f.Started != 0 {
		c.OpenDecisionTasks = 1
	}
	for _, what := range f.scheduled {
		switch what {
		case history.TimerStarted:
			c.OpenTimers++
		case history.ChildInitiated:
			c.OpenChildWorkflowExecutions++
		case history.LambdaScheduled:
			c.OpenLambdaFunctions++
		}
	}
	return c
}
