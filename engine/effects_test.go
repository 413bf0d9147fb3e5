package engine_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// effects are the world that tasks change: an entry for each effect, by the key of its call, so that a repetition
// changes nothing. They survive the process.
type effects struct {
	seed uint64 // determines, with the call, how long it takes; 0 is no time

	mu     sync.Mutex
	there  map[string]string // key of an effect -> the atom's path
	called map[string]bool   // keys of the atoms that were called
	undone map[string]bool   // keys of the atoms whose revert has ended well
	faults []string
}

func newEffects(seed uint64) *effects {
	return &effects{seed: seed, there: map[string]string{}, called: map[string]bool{}, undone: map[string]bool{}}
}

// clone returns a copy of the world, for a run that continues from here.
func (e *effects) clone() *effects {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &effects{
		seed: e.seed, there: maps.Clone(e.there), called: maps.Clone(e.called), undone: maps.Clone(e.undone),
	}
}

// begun notes that an atom is called.
func (e *effects) begun(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.called[atom.IdempotencyKey(ctx)] = true
}

func (e *effects) book(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.there[atom.IdempotencyKey(ctx)] = atom.CurrentCall(ctx).Path
}

func (e *effects) unbook(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.there, atom.IdempotencyKey(ctx))
	e.undone[atom.IdempotencyKey(ctx)] = true
}

// takeTime lets a call take a time of its own.
func (e *effects) takeTime(ctx context.Context) {
	if e.seed == 0 {
		return
	}
	c := atom.CurrentCall(ctx)
	h := fnv.New64a()
	fmt.Fprint(h, e.seed, c.Path, c.Incarnation, c.Attempt, c.Revert)
	time.Sleep(time.Duration(h.Sum64()%100) * time.Millisecond)
}

// check compares the effects with the states of the undoable atoms. A done atom has its effect, an undone or missing
// one does not.
func (e *effects) check(f *randomFlow, state func(path string) states.Task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	entries := map[string]int{}
	for _, path := range e.there {
		entries[path]++
	}
	f.each(func(task *randomFlow) {
		want := 0
		switch s := state(task.Name); {
		case task.Undo == notUndoable:
			return
		case s == states.TaskSuccess:
			want = 1
		case s != states.TaskPending && s != states.TaskReverted && s != states.TaskIgnore:
			return // it was given up in the middle
		}
		if got := entries[task.Name]; got != want {
			e.faults = append(e.faults, fmt.Sprintf("%s is %v and has %d effects", task.Name, state(task.Name), got))
		}
	})
}

// checkShown compares what views show of the atoms with the calls. What is shown as undone was undone, and nothing that
// was not called stays done.
func (e *effects) checkShown(atoms []storage.Atom) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range atoms {
		a := &atoms[i]
		if a.Kind != storage.KindTask {
			continue
		}
		key := (&atom.Call{Run: "r", Path: a.Path, Incarnation: a.Incarnation}).Key()
		status := a.Status()
		shown := status == storage.Status(states.TaskReverted.String())
		var fault string
		switch {
		case shown && !e.undone[key]:
			fault = "but was not undone"
		case !shown && e.undone[key] && a.State == states.TaskReverted:
			fault = "but was undone"
		case status == storage.StatusStaysDone && !e.called[key]:
			fault = "but was not called"
		default:
			continue
		}
		e.faults = append(e.faults, fmt.Sprintf("%s is shown as %s, %s", key, status, fault))
	}
}

// left returns what there is.
func (e *effects) left() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	paths := []string{}
	for _, path := range e.there {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}
