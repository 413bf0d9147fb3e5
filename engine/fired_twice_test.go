package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A rendezvous lets the given number of processes continue a run only after all of them have learned that it is due.
type rendezvous struct {
	members int

	mu  sync.Mutex
	met map[string]*met // by the commit that each is about to make
}

type met struct {
	came int
	all  chan struct{}
}

// come says that a process is about to make the first commit of a claim. The returned channel is closed when all
// processes have come.
func (m *rendezvous) come(c backend.Claim) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := fmt.Sprint(c.Run, " ", c.Begins)
	one := m.met[at]
	if one == nil {
		one = &met{all: make(chan struct{})}
		m.met[at] = one
	}
	if one.came++; one.came == m.members {
		close(one.all)
	}
	return one.all
}

// doubled is a store on which all processes of a rendezvous find each due run before one of them commits.
type doubled struct {
	backend.Store

	rendezvous *rendezvous
	refused    *box[string] // runs in which another process was faster
}

func (s *doubled) Due(ctx context.Context, q backend.DueQuery) ([]backend.Due, time.Time, error) {
	due, next, err := s.Store.Due(ctx, q)
	var all []<-chan struct{}
	for i := range due {
		all = append(all, s.rendezvous.come(due[i].Claim))
	}
	for _, met := range all {
		select {
		case <-met:
		case <-ctx.Done():
		}
	}
	return due, next, err
}

func (s *doubled) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	err := s.Store.Commit(ctx, c, cp)
	if errors.Is(err, storage.ErrFenced) {
		s.refused.put(c.Run)
	}
	return err
}

// timed are flows that wait for a time, each in another way, and then call done.
func timed(done func(string)) map[string]flow.Node {
	grows := func(name string, spec func(ask *grow.Ask) grow.Spec) flow.Node {
		return flow.Growing(name, lang(func(ask *grow.Ask) grow.Growth {
			switch c := &ask.Cause; {
			case c.Kind == grow.Begin:
				return add(spec(ask))
			case c.Name == "wait":
				return add(grow.Spec{Name: "after", Task: name})
			default:
				return grow.Growth{End: &grow.End{Value: atom.Null}}
			}
		}))
	}
	after := func(name string) *atom.Atom {
		return atom.Func("after", func(context.Context, struct{}) (struct{}, error) { done(name); return struct{}{}, nil })
	}
	try := atom.Func("try", func(ctx context.Context, _ struct{}) (struct{}, error) {
		if done("try"); atom.Attempt(ctx) < 3 {
			return struct{}{}, errRefused
		}
		return struct{}{}, nil
	}, atom.Attempts(3, atom.Constant(time.Minute)))
	return map[string]flow.Node{
		"timer": grows("timer", func(ask *grow.Ask) grow.Spec {
			return grow.Spec{Name: "wait", Kind: grow.Timer, Due: ask.Now.Add(time.Minute)}
		}),
		"deadline": grows("deadline", func(ask *grow.Ask) grow.Spec {
			return grow.Spec{Name: "wait", Token: ask.Token(), Timeout: time.Minute}
		}),
		"heartbeat": grows("heartbeat", func(ask *grow.Ask) grow.Spec {
			return grow.Spec{Name: "wait", Token: ask.Token(), Heartbeat: time.Minute}
		}),
		"retry": flow.Linear("retry", try, after("retry")),
	}
}

// TestTimerFiredTwice lets two processes find each due run. The effects of its timers happen once. Of two processes
// that fired the same timer, one does nothing.
//
// Guarantee (Waiting and time): A timer that two processes see has one effect.
func TestTimerFiredTwice(t *testing.T) { //nolint:tparallel // its stores are played one after the other
	t.Parallel()
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		did := &box[string]{}
		m, refused := &rendezvous{members: 2, met: map[string]*met{}}, &box[string]{}
		ctx, stop := context.WithCancel(t.Context())
		store, served := join(), make(chan error)
		flows := timed(did.put)
		calls := catalogOf{flows: flows, did: did.put}
		for range 2 {
			eng := newEngine(t, flows["retry"], engine.WithStore(&doubled{join(), m, refused}), engine.WithTasks(calls), engine.WithCatalog(calls))
			go func() { served <- eng.Serve(ctx) }()
		}
		for _, name := range slices.Sorted(maps.Keys(flows)) {
			if err := newEngine(t, flows[name], engine.WithStore(store), engine.WithTasks(calls)).Start(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Minute)
		stop()
		for range 2 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
		slices.Sort(did.list)
		if diff := cmp.Diff([]string{"deadline", "heartbeat", "retry", "timer", "try", "try", "try"}, did.list); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		for _, name := range slices.Sorted(maps.Keys(flows)) {
			run, err := store.Run(t.Context(), name)
			if err != nil || !run.State.Ended() {
				t.Errorf("run %s is %v (%v)", name, run.State, err)
			}
			timers, err := store.RunTimers(t.Context(), name)
			if err != nil || len(timers) > 0 {
				t.Errorf("run %s has timers left: %v (%v)", name, timers, err)
			}
			if !slices.Contains(refused.list, name) {
				t.Errorf("run %s was never found by both", name)
			}
		}
	})
}

// catalogOf has flows by their names. Their tasks report their calls.
type catalogOf struct {
	flows map[string]flow.Node
	did   func(string)
}

func (c catalogOf) Flow(_ context.Context, run *storage.Run) (flow.Node, error) {
	return c.flows[run.Flow], nil
}

func (c catalogOf) Task(name string) (atom.Body, error) {
	return atom.Untyped(name, func(context.Context, atom.Values) (any, error) { c.did(name); return nil, nil }, nil).Body(), nil //nolint:nilnil // nothing
}
