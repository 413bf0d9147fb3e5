//go:build unix

package sqlstore_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// alteredGrower is the grower of fixtures, changed: all that it adds has another
// name and calls another task.
type alteredGrower struct{ listens }

func (a alteredGrower) Grow(ask *grow.Ask) grow.Growth {
	g := a.listens.Grow(ask)
	for i := range g.Add {
		if s := &g.Add[i]; s.Task != "" {
			s.Name += "2"
			s.Task, s.Undo = "do:altered", &grow.Undo{Task: "undo:altered"}
		}
	}
	return g
}

// TestFixturesAltered resumes the runs of each fixture on flows that have changed since. A changed grower does not
// alter recorded work. A flow of another structure is refused, and nothing changes (G7).
func TestFixturesAltered(t *testing.T) {
	t.Parallel()
	for _, fixture := range fixtures(t) {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			t.Parallel()
			s := open(t, copyFixture(t, fixture))
			defer shut(t, s)
			for i := range fixtureFlows {
				f := &fixtureFlows[i]
				for _, left := range f.left {
					id := f.id(left)
					run, err := s.Run(t.Context(), id)
					if errors.Is(err, storage.ErrNotFound) || run.State.Ended() {
						continue // of a flow that came with a later schema, or is over
					}
					switch f.name {
					case "grows":
						growsOnAltered(t, s, f, id)
					case "linear", "undo", "asks":
						refusesAltered(t, s, f, id)
					}
				}
			}
		})
	}
}

func growsOnAltered(t *testing.T, s backend.Store, f *fixtureFlow, id string) {
	t.Helper()
	before, err := s.Atoms(t.Context(), id, storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	f.wake(t, s, id)
	j := &journal{}
	eng, err := engine.New(flow.Growing(f.name, alteredGrower{}), s, engine.WithTasks(j))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // the altered one does not know the node that was added under another name, and hears of it again
		if _, err = eng.Run(t.Context(), id, engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			break
		}
		f.wake(t, s, id)
	}
	if err != nil && !errors.Is(err, engine.ErrWaiting) {
		t.Fatalf("%s: %v", id, err)
	}
	for i := range before {
		was := &before[i]
		is, err := s.Atom(t.Context(), id, was.Path)
		if err != nil {
			t.Errorf("%s: %s: %v", id, was.Path, err)
			continue
		}
		facts := func(a *storage.Atom) []any { return []any{a.Kind, a.Incarnation, a.Input.Data, a.Spec} }
		if diff := cmp.Diff(facts(was), facts(&is)); was.Path != flow.GrowingPath && diff != "" {
			t.Errorf("%s: %s is altered (-before +after):\n%s", id, was.Path, diff)
		}
		if was.State == states.TaskSuccess && slices.Contains(j.calls, "do "+taskOf(was)) {
			t.Errorf("%s: %s is done again: %v", id, was.Path, j.calls)
		}
	}
	t.Logf("%s: %v", id, j.calls)
}

func refusesAltered(t *testing.T, s backend.Store, f *fixtureFlow, id string) {
	t.Helper()
	before := contentsOf(t, s, id)
	j := &journal{}
	eng, err := engine.New(flow.Linear(f.name, j.task("new", nil), j.task("a", nil)), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), id); !errors.Is(err, engine.ErrChanged) || len(j.calls) > 0 {
		t.Errorf("%s: on a flow that has changed: %v, calls %s; want %v", id, err, strings.Join(j.calls, ", "), engine.ErrChanged)
	}
	after := contentsOf(t, s, id)
	for _, c := range []*contents{&before, &after} { // it was taken over, and given back
		c.Run.Fence, c.Run.ClaimID, c.Run.Owner, c.Run.Lost = 0, "", "", 0
		c.Run.Due, c.Run.Updated = c.Run.Created, c.Run.Created
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("%s was changed (-before +after):\n%s", id, diff)
	}
}
