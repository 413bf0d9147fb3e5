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

// effects are the world that tasks change: there is an entry for each, by the key
// of the call that makes them, so that making one again changes nothing. It
// survives the process.
type effects struct {
	seed uint64 // with the call, determines how long that takes; 0 is no time

	mu     sync.Mutex
	there  map[string]string // key of an effect -> the atom's path
	faults []string
}

func newEffects(seed uint64) *effects {
	return &effects{seed: seed, there: map[string]string{}}
}

// clone returns the world as it is, for a run that goes on from here.
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

// check compares what there is with the states of the atoms that can be undone:
// what is done is there, and what is not, or is undone, is not.
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
