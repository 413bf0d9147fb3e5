package attempts_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// child is a run of another flow, which can be undone if it reverts.
func child(name string, reverts bool) flow.Node {
	inner := atom.Func("in", func(context.Context, struct{}) (int, error) { return 1, nil }, atom.NoEffect(), atom.Provides("in"))
	if reverts {
		inner = atom.Pair("in", func(context.Context, struct{}) (int, error) { return 1, nil },
			func(context.Context, struct{}, atom.Outcome[int]) error { return nil }, atom.Provides("in"))
	}
	return flow.Run[struct{}, struct {
		In int `json:"in"`
	}](name, flow.Linear("g"+name, inner))
}

// TestChildRuns: the units of a plan that begin runs, and for which runs they wait.
func TestChildRuns(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", deferrable("task"), child("undone", true), child("kept", false)))
	w.Load(&backend.Snapshot{})
	var paths []string
	for u := range w.Parents {
		paths = append(paths, u.Path)
		if id := w.RunOf(u); id != "r/"+u.Path || attempts.ChildOf(u).Flow != "g"+u.Path ||
			u.Reverts() != (u.Path == "undone") {
			t.Errorf("%s begins %q, %+v", u.Path, id, attempts.ChildOf(u))
		}
		if ev, tell := attempts.Begun(u, "id"); tell {
			t.Errorf("it does not wait for its run: %+v", ev)
		}
	}
	same(t, "parents", paths, "undone", "kept")
	u := w.ParentOf("r/undone")
	if u == nil || w.Runs() != 2 || attempts.IsUndone(u) {
		t.Errorf("got %+v, %d", u, w.Runs())
	}
	u.Rec.State = states.TaskReverting
	if ev := attempts.Undone(u); !attempts.IsUndone(u) || ev.Kind != scheduler.Completed || !ev.Revert || ev.Result == nil {
		t.Errorf("got %+v", ev)
	}
	w.DropRun("r/undone")
	w.AwaitRun("r/next", u)
	if w.ParentOf("r/undone") != nil || w.Runs() != 2 {
		t.Error("the unit waits for the run that it was")
	}
}

// TestChildNodes: the scheduler learns of a run that is reported, or that its node does not wait for.
func TestChildNodes(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Growing("f", growing{}))
	w.Load(&backend.Snapshot{})
	u := w.ParentOf("r/child")
	if n := u.Grown(); n == nil || n.Path != "child" || attempts.ChildOf(u) != n.Spec.Child || u.Reverts() {
		t.Fatalf("got %+v", u)
	}
	if _, tell := attempts.Begun(u, "id"); tell {
		t.Error("a node that waits for its run is told")
	}
	u.Node.Spec.Child.Detached = true
	if ev, tell := attempts.Begun(u, "id"); !tell || ev.Kind != scheduler.Completed || string(ev.Result.JSON()) != `"id"` {
		t.Errorf("detached: got %+v, %v", ev, tell)
	}
	w.DropRun("r/child")
	if w.Load(&backend.Snapshot{}); w.Runs() != 0 {
		t.Error("a detached run is awaited")
	}
	u.Node.Spec.Token = "t"
	if _, tell := attempts.Begun(u, "id"); tell {
		t.Error("a detached run is told, though the holder of the token ends the node")
	}
	u.Node.Spec.Report = true
	if ev, tell := attempts.Begun(u, "id"); !tell || ev.Kind != scheduler.Deferred || ev.Unit != u {
		t.Errorf("reported: got %+v, %v", ev, tell)
	}
}

// TestRunEnded: the message about the end of a run becomes the event for its unit.
func TestRunEnded(t *testing.T) {
	t.Parallel()
	w := begun(t, flow.Unordered("f", child("kept", false)))
	u := w.s.Unit(0)
	failed := &storage.Message{Failure: &atom.Failure{Code: "No", Atom: "in", Untaken: true}}
	ev := attempts.RunEnded(u, failed)
	if ev.Kind != scheduler.Completed || ev.RunEnd != grow.RunFailed || ev.Failure.Untaken || !failed.Failure.Untaken {
		t.Errorf("got %+v", ev)
	}
	if attempts.Fit(&ev, u); ev.Failure.Atom != "kept/in" {
		t.Errorf("the failure is at %s", ev.Failure.Atom)
	}
	ev.Failure = &atom.Failure{}
	if attempts.Fit(&ev, u); ev.Failure.Atom != "kept" {
		t.Errorf("the failure is at %s", ev.Failure.Atom)
	}
	for want, m := range map[grow.RunEnd]*storage.Message{
		grow.RunSucceeded: {}, grow.RunCancelled: {Note: atom.MustEncode(grow.RunCancelled)},
		grow.RunTimedOut: {Note: atom.MustEncode(grow.RunTimedOut), Failure: &atom.Failure{}},
		grow.RunFailed:   {Note: atom.MustEncode(grow.RunOpen), Failure: &atom.Failure{}},
	} {
		if got := attempts.RunEnded(u, m).RunEnd; got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	ev = attempts.RunEnded(u, &storage.Message{Body: atom.MustEncode("x")})
	if attempts.Fit(&ev, u); ev.Result != nil || ev.Failure.Code != atom.CodeBadResult ||
		!strings.Contains(ev.Failure.Message, "the output of the run is no result of the atom: ") {
		t.Errorf("got %+v", ev)
	}
	ev = attempts.RunEnded(u, &storage.Message{Body: atom.MustEncode(map[string]int{"in": 1})})
	if attempts.Fit(&ev, u); ev.Failure != nil || string(ev.Result.JSON()) != `{"in":1}` {
		t.Errorf("got %+v", ev)
	}
	node := w.node("n", &grow.Spec{})
	ev = attempts.RunEnded(node, failed)
	if attempts.Fit(&ev, node); ev.Failure.Atom != "in" {
		t.Errorf("the language of a node hears of %s", ev.Failure.Atom)
	}
}
