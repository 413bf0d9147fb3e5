package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// versioned is a Go grower whose answers all contain its version. It asks for two tasks, then a fork of two branches
// with a task and a wait each, then another task. Then it ends or fails.
type versioned struct {
	version string
	fails   bool
}

func (v versioned) task(name string) grow.Spec {
	spec := work(name + v.version)
	spec.Input = atom.MustEncode("given by " + v.version)
	return spec
}

func (v versioned) Grow(ask *grow.Ask) grow.Growth {
	c := &ask.Cause
	switch {
	case c.Kind == grow.Begin && ask.Path == "":
		g := add(v.task("a"), v.task("b"))
		g.Memory = atom.MustEncode(2)
		return g
	case c.Kind == grow.Begin:
		return add(v.task("c"))
	case strings.HasPrefix(c.Name, "c"):
		return add(grow.Spec{Name: "w" + v.version, Kind: grow.Timer, Due: ask.Now.Add(time.Minute), Note: atom.MustEncode(v.version)})
	case strings.HasPrefix(c.Name, "w"):
		return done(v.version)
	case strings.HasPrefix(c.Name, "a"), strings.HasPrefix(c.Name, "b"):
		if ask.Memory.String() == "2" {
			return grow.Growth{Memory: atom.MustEncode(1)}
		}
		return add(grow.Spec{Name: "fork" + v.version, Kind: grow.Fork, Group: &grow.Group{Count: 2}})
	case strings.HasPrefix(c.Name, "fork"):
		return add(v.task("d"))
	case v.fails:
		return failure(&atom.Failure{Code: "Refused", Message: "it will not"})
	default:
		return done("ended by " + v.version)
	}
}

func (versioned) Undo(ask *grow.UndoAsk) (atom.Value, error) { return ask.Spec.Input, nil }

// TestAlteredGrower lets a process die after each commit of a growing flow in Go. The next process has a grower that
// answers everything differently. Recorded work does not change, is not repeated, and is undone as it was recorded.
func TestAlteredGrower(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprint("fails ", fails), func(t *testing.T) {
			t.Parallel()
			for left := 1; ; left++ {
				died := false
				synctest.Test(t, func(t *testing.T) { died = alters(t, left, fails) })
				if !died {
					if left < 3 {
						t.Errorf("it ended after %d commits", left)
					}
					return
				}
			}
		})
	}
}

// alters resumes a run whose process died after the given number of commits. It returns false if the run had ended
// before.
func alters(t *testing.T, left int, fails bool) bool {
	t.Helper()
	w := &world{}
	store := memstore.New()
	first := newEngine(t, flow.Growing("f", versioned{"1", fails}), engine.WithStore(dies(store, left)), engine.WithTasks(w))
	_, err := first.Run(t.Context(), "r")
	if !errors.Is(err, errDied) {
		return false
	}
	before, err := store.Atoms(t.Context(), "r", storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	calls := len(w.calls)
	second := newEngine(t, flow.Growing("f", versioned{"2", fails}), engine.WithStore(store.Join()), engine.WithTasks(w))
	if err := store.Close(); err != nil { // the process has died
		t.Fatal(err)
	}
	_, err = second.Run(t.Context(), "r")
	reverted, is := errors.AsType[*engine.RevertedError](err)
	if is != fails || !fails && err != nil {
		t.Fatalf("after %d commits it ended with %v, %v", left, err, reverted)
	}
	after, err := second.Store().Atoms(t.Context(), "r", storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		was := &before[i]
		at := slices.IndexFunc(after, func(a storage.Atom) bool { return a.Path == was.Path })
		if at < 0 {
			t.Errorf("after %d commits: %s is gone", left, was.Path)
			continue
		}
		is := &after[at]
		same := func(a *storage.Atom) []any { return []any{a.Kind, a.Incarnation, a.Input.Data, a.Note.Data, a.Spec} }
		if diff := cmp.Diff(same(was), same(is)); was.Path != flow.GrowingPath && diff != "" {
			t.Errorf("after %d commits: %s is altered (-before +after):\n%s", left, was.Path, diff)
		}
		if ended := was.State == states.TaskSuccess; ended && slices.ContainsFunc(w.calls[calls:], func(c string) bool { return strings.HasPrefix(c, "do "+was.Path+"@") }) {
			t.Errorf("after %d commits: %s is done again: %v", left, was.Path, w.calls[calls:])
		}
	}
	if fails && len(w.there) > 0 {
		t.Errorf("after %d commits: left behind are %v", left, w.there)
	}
	return true
}
