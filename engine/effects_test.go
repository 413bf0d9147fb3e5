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
)

// effects are the world that tasks change: an entry for each effect, by the key of its call, so that a repetition
// changes nothing. They survive the process.
type effects struct {
	seed uint64 // determines, with the call, how long it takes; 0 is no time

	mu     sync.Mutex
	there  map[string]string // key of an effect -> the atom's path
	faults []string
}

func newEffects(seed uint64) *effects {
	return &effects{seed: seed, there: map[string]string{}}
}

// clone returns a copy of the world, for a run that continues from here.
func (e *effects) clone() *effects {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &effects{seed: e.seed, there: maps.Clone(e.there)}
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
