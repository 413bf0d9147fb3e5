package swf_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
)

// undoes registers what undoes the activities of the tests.
var undoes = []swf.UndoType{
	{Type: swf.Type{Name: "at", Version: "1"}, By: swf.Type{Name: "at-undo", Version: "1"}},
	{Type: swf.Type{Name: "at-bare", Version: "1"}, By: swf.Type{Name: "at-undo", Version: "1"}},
	{Type: swf.Type{Name: "at-odd", Version: "1"}, By: swf.Type{Name: "none", Version: "1"}},
}

var closeBy = map[string]func(w *world, r *simRun){
	"FAILED":    func(w *world, _ *simRun) { w.decide(decide("FailWorkflowExecution", "reason", "no")) },
	"TIMED_OUT": func(w *world, _ *simRun) { w.advance(295 * second) },
	"TERMINATED": func(w *world, r *simRun) {
		if fault := w.call(r, swf.CallTerminate, swf.Termination{}); fault != nil {
			w.t.Fatal(fault)
		}
	},
	"OPERATOR": func(w *world, r *simRun) {
		w.stop(r, false)
	},
	"ABANDONED": func(w *world, r *simRun) { w.stop(r, true) },
	"COMPLETED": func(w *world, _ *simRun) { w.decide(complete) },
	"CANCELED":  func(w *world, _ *simRun) { w.decide(decide("CancelWorkflowExecution")) },
	"CONTINUED_AS_NEW": func(w *world, _ *simRun) {
		w.decide(decide("ContinueAsNewWorkflowExecution", "taskList", named("cl")))
	},
}

// stop ends a run as an operator, who may abandon it.
func (w *world) stop(r *simRun, abandon bool) {
	w.t.Helper()
	g := w.lang.Grow(&grow.Ask{
		Run: r.info, Index: -1, Memory: r.memory,
		Cause: grow.Cause{Kind: grow.Stopped, Failure: &atom.Failure{Message: "stop"}, Abandoned: abandon},
		Now:   w.now, Event: int64(len(r.events)) + 1, Random: w.bits,
	})
	r.open = nil
	g.Leave, g.End = nil, &grow.End{Failure: &atom.Failure{}}
	r.commit(&grow.Cause{Kind: grow.Stopped}, &g, nil)
	w.settle()
}

// did lets a worker do the next activity of a list, and returns its input.
func (w *world) did(list string, cause grow.Cause) (input string) {
	w.t.Helper()
	got := w.poll(swf.ActivityQueue(domain, list), "worker")
	if got == nil {
		w.t.Fatalf("no activity task on %q\n%s", list, w.order[len(w.order)-1].story())
	}
	if err := got.node.spec.Input.Decode(&input); err != nil {
		w.t.Fatal(err)
	}
	if fault := w.answer(got, cause); fault != nil {
		w.t.Fatal(fault)
	}
	w.advance(2 * second)
	return got.activity.ActivityType.Name + " " + input
}

func ended(result string) grow.Cause { return grow.Cause{Kind: grow.Ended, Result: swf.Text(&result)} }

func failed(reason string) grow.Cause {
	return grow.Cause{Kind: grow.Failed, Failure: swf.ActivityFailed(&reason, nil)}
}

// undoing returns the only execution that undoes; nil if there is none.
func (w *world) undoing() (found *simRun) {
	w.t.Helper()
	for _, r := range w.order {
		if r.labels[swf.LabelUndoes] != "" {
			if found != nil {
				w.t.Fatal("two executions undo")
			}
			found = r
		}
	}
	return found
}

// TestUndo closes an execution in each way. If it did not succeed, its completed activities are undone, the last one
// first, by an execution that is linked with it.
//
// Guarantee (G4): The commit that closes an SWF execution without success, also by an operator, starts the execution
// that undoes it.
// Also: `engine: TestLeaveAtEnd`, `server/sfn/interop: TestSWFUndo`.
//
// Guarantee (Undo on Amazon SWF): Ebb first undoes, with the outcome `unknown`, activities that timed out after a
// worker took them, or that workers had at the close. Then it undoes, with `done`, those that completed. It undoes
// nothing of earlier runs of a continued execution.
// Also: `TestUndoUnknown`, `server/swf: TestUndoOfFamily`.
//
// Guarantee (Undo on Amazon SWF): Task list, priority and timeouts of an undo are the defaults of the type that
// undoes.
//
// Guarantee (Undo on Amazon SWF): The activityId of an undo is that of the activity, `#`, and its
// ActivityTaskScheduled event.
// Also: `TestUndoAtLimits`.
//
// Guarantee (Undo on Amazon SWF): The execution that undoes has as its parent the one that it undoes. The labels
// `swf.undo` of the first and `swf.undoes` of the second have the other's runId.
//
// Guarantee (Undo on Amazon SWF): Only Ebb decides for the execution that undoes, with the identity `ebb`.
func TestUndo(t *testing.T) {
	t.Parallel()
	for status, closes := range closeBy {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, swf.Settings{Undo: undoes})
			r := w.start("w")
			w.decide(activity("a"), activity("b"), activity("other", "activityType", typed("at-free")))
			for _, result := range []string{"ra", "rb", "ro"} {
				w.did("al", ended(result))
			}
			closes(w, r)
			w.advance(2 * second)
			undo := w.undoing()
			if slices.Contains([]string{"COMPLETED", "CANCELED", "CONTINUED_AS_NEW", "ABANDONED"}, status) {
				if undo != nil {
					t.Errorf("an execution undoes %s", status)
				}
				return
			}
			if undo == nil {
				t.Fatal("nothing undoes")
			}
			expect(t, undo.event("WorkflowExecutionStarted", 1), "parentInitiatedEventId", 0)
			if undo.labels[swf.LabelUndoes] != r.info.ID || r.labels[swf.LabelUndo] != undo.info.ID ||
				undo.labels[swf.LabelWorkflowID] != swf.LabelValue(domain, "w:undo") {
				t.Errorf("the labels are %v and %v", r.labels, undo.labels)
			}
			for _, want := range []string{
				`at-undo {"input":"in-b","result":"rb","outcome":"done"}`, `at-undo {"input":"in-a","result":"ra","outcome":"done"}`,
			} {
				if got := w.did("undo", ended("")); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			expect(t, undo.event("ActivityTaskScheduled", 1), "activityId", "b#6", "scheduleToCloseTimeout", "60", "taskPriority", "7")
			expect(t, undo.event("WorkflowExecutionCompleted", 1), "result", `{"skipped":0,"undone":2}`)
			undo.ends(1, "WorkflowExecutionStarted", "DecisionTaskScheduled", "DecisionTaskStarted", "DecisionTaskCompleted",
				"ActivityTaskScheduled", "ActivityTaskStarted", "ActivityTaskCompleted", "DecisionTaskScheduled", "DecisionTaskStarted",
				"DecisionTaskCompleted", "ActivityTaskScheduled", "ActivityTaskStarted", "ActivityTaskCompleted",
				"DecisionTaskScheduled", "DecisionTaskStarted", "DecisionTaskCompleted", "WorkflowExecutionCompleted")
		})
	}
}

// TestUndoUnknown undoes activities whose end is not known: they timed out, or a worker has them when the execution
// closes. Activities that failed, were canceled or were never started are not undone.
func TestUndoUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{Undo: undoes})
	w.start("w")
	w.decide(activity("done"), activity("lost", "startToCloseTimeout", "1"), activity("failed"), activity("canceled"),
		activity("open1"), activity("open2"), activity("waits"))
	w.did("al", ended("r"))
	if w.worker() == nil {
		t.Fatal("no task")
	}
	w.advance(2 * second)
	w.did("al", failed("no"))
	w.did("al", grow.Cause{Kind: grow.Failed, Failure: swf.ActivityCanceled(nil)})
	first, second := w.worker(), w.worker()
	w.decide(decide("FailWorkflowExecution"))
	w.advance(1e9)
	for _, got := range []*task{first, second} {
		if fault := w.answer(got, ended("late")); fault == nil {
			t.Error("a late answer is accepted")
		}
	}
	for _, want := range []string{
		`at-undo {"input":"in-open2","result":null,"outcome":"unknown"}`, `at-undo {"input":"in-open1","result":null,"outcome":"unknown"}`,
		`at-undo {"input":"in-lost","result":null,"outcome":"unknown"}`, `at-undo {"input":"in-done","result":"r","outcome":"done"}`,
	} {
		if got := w.did("undo", ended("")); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if undo := w.undoing(); undo.end == nil {
		t.Errorf("the undo goes on\n%s", undo.story())
	}
}

// TestUndoFails lets an undo fail. A person must decide, and the execution stays open until then.
//
// Guarantee (Undo on Amazon SWF): If an undo fails or times out, or its type does not exist, the execution stays open
// and [needs a person](../how-to/undo-policies.md#an-operator-decides), who sends it the signal `retry` or `skip`, or
// terminates it.
// Also: `server/sfn/interop: TestSWFUndo`.
func TestUndoFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{Undo: undoes})
	w.start("w")
	w.decide(activity("a"), activity("odd", "activityType", typed("at-odd")), activity("b"))
	for range 3 {
		w.did("al", ended("r"))
	}
	w.broken = 3
	w.decide(decide("FailWorkflowExecution"))
	w.advance(20 * second)
	undo := w.undoing()
	stuck := func(why string) {
		t.Helper()
		if (undo.person == "") != (why == "") || !strings.Contains(undo.person, why) || undo.end != nil {
			t.Fatalf("a person decides about %q, want %q\n%s", undo.person, why, undo.story())
		}
	}
	w.did("undo", failed("broken"))
	stuck("b#7 did not complete: ActivityTaskFailed")
	w.signal(undo, "other")
	w.advance(1000 * second)
	stuck("b#7")
	w.signal(undo, swf.SignalRetry)
	w.advance(2 * second)
	stuck("")
	w.signal(undo, swf.SignalSkip) // no person was asked
	w.advance(55 * second)         // no worker takes it
	stuck("ActivityTaskTimedOut")
	w.signal(undo, swf.SignalRetry)
	w.advance(2 * second)
	w.did("undo", ended("b"))
	stuck("none/1 cannot be scheduled")
	w.signal(undo, swf.SignalSkip)
	w.advance(2 * second)
	w.lost = true
	w.did("undo", failed("again"))
	stuck("a#5")
	w.signal(undo, swf.SignalRetry)
	w.advance(2 * second)
	stuck("is not there any more")
	w.signal(undo, swf.SignalSkip)
	w.advance(2 * second)
	stuck("is not there any more") // what comes before is not known
	w.signal(undo, swf.SignalSkip)
	w.advance(2 * second)
	expect(t, undo.event("WorkflowExecutionCompleted", 1), "result", `{"skipped":3,"undone":1}`)
	if undo.person != "" && undo.end == nil {
		t.Errorf("a person decides about %q", undo.person)
	}
}

// TestUndoAtLimits undoes an execution whose history is full, and whose ids and data are as long as they may be.
//
// Guarantee (Undo on Amazon SWF): The execution that undoes has no timeout and no limit of events; its data may be
// longer than those of clients.
func TestUndoAtLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{Undo: undoes, Events: 20})
	long, data := strings.Repeat("ä", 256), strings.Repeat("\n", 32768)
	w.start(long)
	w.decide(activity(long, "input", data), activity("b"), activity("c"))
	w.did("al", ended(data))
	w.did("al", ended(""))
	got := w.worker()
	for i := range 10 {
		w.signal(w.order[0], fmt.Sprint(i))
		if w.order[0].end != nil {
			break
		}
	}
	if w.order[0].end == nil || w.answer(got, ended("late")) == nil {
		t.Fatalf("the history is not full\n%s", w.order[0].story())
	}
	w.advance(second)
	undo := w.undoing()
	for range 3 {
		w.did("undo", ended(""))
	}
	id, _ := undo.event("ActivityTaskScheduled", 3)["activityId"].(string)
	if id != strings.Repeat("ä", 254)+"#5" || undo.end == nil || len(undo.events) < 20 {
		t.Errorf("undone as %s\n%s", id, undo.story())
	}
	if id := swf.UndoID(long); !swf.IsUndo(id) || swf.Length(id) != 256 {
		t.Errorf("the workflowId is %s", id)
	}
}

// checkUndone requires that each closed execution that needs it has one execution that undoes it.
func checkUndone(t *testing.T, w *world) {
	t.Helper()
	undoing := map[string]int{}
	for _, r := range w.order {
		undoing[r.labels[swf.LabelUndoes]]++
	}
	for _, r := range w.order {
		if r.end == nil {
			continue
		}
		need := 0
		switch last := r.events[len(r.events)-1].Type; last {
		case "WorkflowExecutionFailed", "WorkflowExecutionTimedOut", "WorkflowExecutionTerminated":
			ended := map[any]string{}
			for i := range r.events {
				var a map[string]any
				if err := r.events[i].Details.Decode(&a); err != nil {
					t.Fatal(err)
				}
				switch e := r.events[i].Type; e {
				case "ActivityTaskStarted", "ActivityTaskCompleted", "ActivityTaskFailed", "ActivityTaskCanceled", "ActivityTaskTimedOut":
					if n, _ := a["startedEventId"].(float64); n != 0 || e == "ActivityTaskStarted" {
						ended[a["scheduledEventId"]] = e
					}
				}
			}
			for _, e := range ended {
				if e != "ActivityTaskFailed" && e != "ActivityTaskCanceled" {
					need = 1
				}
			}
		}
		if r.labels[swf.LabelUndoes] != "" {
			need = 0
		}
		if undoing[r.info.ID] != need {
			t.Errorf("%d executions undo one, want %d\n%s", undoing[r.info.ID], need, r.story())
		}
	}
}
