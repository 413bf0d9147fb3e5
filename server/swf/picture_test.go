package swf_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/flow/draw"
	model "github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/swf"
)

// drawn returns the diagram of an execution as lines.
func (w *world) drawn(t *testing.T, id string) (list []string) {
	t.Helper()
	run, err := w.store.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	view, err := swf.Picture(t.Context(), w.store, &run)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	for _, n := range view.Nodes {
		labels[n.ID] = n.Label
		list = append(list, strings.TrimSpace(n.Label+" "+n.State))
	}
	for _, e := range view.Edges {
		list = append(list, labels[e.From]+" -> "+labels[e.To])
	}
	if text := draw.Mermaid(view); !strings.Contains(text, "decision 2") {
		t.Error(text)
	}
	return list
}

// TestPicture draws decisions, activities, timers, signals, children and markers, what led to what, and what undoes the
// execution.
func TestPicture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := undoWorld(t)
		run := w.start(t, "x")
		wait := func(id, seconds string) object {
			return object{
				"decisionType": "StartTimer", "startTimerDecisionAttributes": object{"timerId": id, "startToFireTimeout": seconds},
			}
		}
		w.decide(t, schedule("pay"), wait("wait", "5"), wait("never", "500"),
			object{"decisionType": "RecordMarker", "recordMarkerDecisionAttributes": object{"markerName": "m"}})
		w.work(t, "r")
		w.decide(t, object{
			"decisionType": "StartChildWorkflowExecution", "startChildWorkflowExecutionDecisionAttributes": object{
				"workflowId": "c", "workflowType": typeOf("t", "1"), "taskList": object{"name": "other"},
			},
		}, object{"decisionType": "CancelTimer", "cancelTimerDecisionAttributes": object{"timerId": "never"}})
		w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x", "signalName": "go"})
		time.Sleep(10 * time.Second)
		w.poll(t, "l")
		open := w.drawn(t, run)
		time.Sleep(100 * time.Second) // the decision task times out
		w.decide(t, fails)
		synctest.Wait()
		stored, err := w.store.Run(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		closed := w.drawn(t, run)
		for _, want := range []struct {
			lines []string
			has   []string
		}{
			{open, []string{
				"start", "pay SUCCESS", "wait SUCCESS", "never CANCELLED", "marker m SUCCESS", "child c RUNNING", "signal go SUCCESS",
				"start -> decision 2", "decision 2 -> pay", "decision 2 -> wait", "decision 2 -> never", "decision 2 -> marker m",
				"pay -> decision 11", "decision 11 -> child c", "wait -> decision 17", "signal go -> decision 17", "decision 17 RUNNING",
			}},
			{closed, []string{
				"decision 17 FAILURE", "decision 17 -> decision 22", "decision 22 SUCCESS", "WorkflowExecutionFailed FAILURE",
				"decision 22 -> WorkflowExecutionFailed", "undone by " + stored.Labels[model.LabelUndo] + " RUNNING",
				"WorkflowExecutionFailed -> undone by " + stored.Labels[model.LabelUndo],
			}},
		} {
			for _, line := range want.has {
				if !slices.Contains(want.lines, line) {
					t.Errorf("the diagram has no %q:\n%s", line, strings.Join(want.lines, "\n"))
				}
			}
		}
		w.work(t, "")
		synctest.Wait()
		if got := w.drawn(t, run); !slices.Contains(got, "undone by "+stored.Labels[model.LabelUndo]+" SUCCESS") {
			t.Errorf("the diagram does not say that the execution is undone: %q", got)
		}
	})
}

// TestPictureLimit refuses to draw too much.
func TestPictureLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := undoWorld(t)
		id := w.start(t, "x")
		for i := range 2001 {
			w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x", "signalName": fmt.Sprint(i)})
		}
		run, err := w.store.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := swf.Picture(t.Context(), w.store, &run); !errors.Is(err, swf.ErrManyNodes) {
			t.Errorf("got %v", err)
		}
	})
}
