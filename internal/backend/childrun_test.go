package backend_test

import (
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestChildIDs: each attempt of each incarnation begins a run of its own.
func TestChildIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		incarnation, attempt int
		grown, planned       string
	}{
		{0, 1, "r/a", "r/a"}, {0, 2, "r/a@2", "r/a@1.2"}, {1, 1, "r/a@1.2", "r/a@2"}, {1, 3, "r/a@3.2", "r/a@2.3"},
	} {
		if got := backend.ChildID("r", "a", c.incarnation, c.attempt, &grow.Child{}); got != c.grown {
			t.Errorf("%+v: got %s", c, got)
		}
		if got := backend.PlannedChildID("r", "a", c.incarnation, c.attempt); got != c.planned {
			t.Errorf("%+v: got %s", c, got)
		}
	}
	if got := backend.ChildID("r", "a", 1, 2, &grow.Child{ID: "own"}); got != "own" {
		t.Errorf("got %s", got)
	}
}

// TestBegunBy: which run a stored atom has begun, and whether it waits for it.
func TestBegunBy(t *testing.T) {
	t.Parallel()
	spec := func(child *grow.Child) atom.Value { return atom.MustEncode(grow.Spec{Kind: grow.Nested, Child: child}) }
	for _, c := range []struct {
		name    string
		a       storage.Atom
		id      string
		awaited bool
	}{
		{"a task", storage.Atom{Path: "a"}, "", false},
		{"of a plan", storage.Atom{Path: "a", Kind: storage.KindRun, Attempt: 1, State: states.TaskRunning}, "r/a", true},
		{"that has ended", storage.Atom{Path: "a", Kind: storage.KindRun, Attempt: 1, State: states.TaskSuccess}, "r/a", false},
		{"being undone", storage.Atom{Path: "a", Kind: storage.KindRun, Attempt: 1, State: states.TaskReverting}, "r/a", true},
		{"continued", storage.Atom{Kind: storage.KindRun, Successor: "b", State: states.TaskRunning}, "b", true},
		{"a node without a run", storage.Atom{Kind: storage.KindRun, Spec: spec(nil)}, "", false},
		{"a node", storage.Atom{
			Path: "a", Kind: storage.KindRun, Attempt: 2, State: states.TaskRunning, Spec: spec(&grow.Child{}),
		}, "r/a@2", true},
		{"detached", storage.Atom{
			Path: "a", Kind: storage.KindRun, Attempt: 1, State: states.TaskRunning, Spec: spec(&grow.Child{Detached: true}),
		}, "r/a", false},
	} {
		if id, awaited := backend.BegunBy("r", &c.a); id != c.id || awaited != c.awaited {
			t.Errorf("%s: got %q, %v", c.name, id, awaited)
		}
	}
}
