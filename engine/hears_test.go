package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestLongUndoHears stops and suspends runs that undo thousands of very short tasks. The undo rests at once, and later
// continues to its end.
//
// Attack (Large runs): A run undoes thousands of tasks, reads thousands of messages or loads thousands of children.
// Result: Suspend and stop take effect after each undo, message or page of children.
// Also: `TestCatchingUpHears`, `TestLoadHears`.
func TestLongUndoHears(t *testing.T) {
	t.Parallel()
	const tasks, before = 5000, 100
	for how, want := range map[string]error{"stop": engine.ErrStopped, "suspend engine": engine.ErrSuspended, "suspend": engine.ErrSuspended} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := memstore.New()
			many := lang(func(ask *grow.Ask) grow.Growth {
				n := 0
				if ask.Memory != nil {
					_ = ask.Memory.Decode(&n)
				}
				if n++; n > tasks {
					return failure(&atom.Failure{Code: "TooBad"})
				}
				g := add(work(fmt.Sprint("w", n)))
				g.Memory = atom.MustEncode(n)
				return g
			})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var eng *engine.Engine
			var undone atomic.Int64
			body := undoes(func(ctx context.Context) error {
				switch n := undone.Add(1); {
				case n == before && how == "suspend engine":
					eng.Suspend()
				case n == before && how == "suspend":
					return engine.Send(ctx, s, "run", engine.Hold())
				case n == before:
					stop()
				}
				return nil
			})
			eng = newEngine(t, flow.Growing("f", many), engine.WithStore(s), engine.WithTasks(body))
			_, err := eng.Run(ctx, "run")
			if !errors.Is(err, want) {
				t.Fatalf("after %d undone: %v; want %v", undone.Load(), err, want)
			}
			run, err := s.Run(t.Context(), "run")
			if err != nil || run.State.Ended() || run.Owner != "" || run.Undos == 0 {
				t.Fatalf("%v, owner %q, %d left: %v", run.State, run.Owner, run.Undos, err)
			}
			_, err = newEngine(t, flow.Growing("f", many), engine.WithStore(s), engine.WithTasks(body)).Run(t.Context(), "run")
			reverted(t, err)
			if got := undone.Load(); got < tasks || got > tasks+1 { // the interrupted one may be undone again
				t.Errorf("%d undone; want %d", got, tasks)
			}
		})
	}
}

// undoes provides tasks that do nothing, and whose undos do nothing.
type undoes func(ctx context.Context) error

func (u undoes) Task(string) (atom.Body, error) { return undoesAlone{u}, nil }

type undoesAlone struct{ undo undoes }

func (undoesAlone) Reverts() bool { return false }

func (undoesAlone) Execute(context.Context, atom.Values) (atom.Value, error) { return atom.Null, nil }

func (b undoesAlone) Revert(ctx context.Context, _ atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, b.undo(ctx)
}

// TestCatchingUpHears stops and suspends a run that reads thousands of messages. The run later continues, and hears
// each of them once.
func TestCatchingUpHears(t *testing.T) {
	t.Parallel()
	const messages, before = 2000, 100
	for how, want := range map[string]error{"stop": engine.ErrStopped, "suspend engine": engine.ErrSuspended} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := memstore.New()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var eng *engine.Engine
			asked := false
			hears := lang(func(ask *grow.Ask) grow.Growth {
				n := 0
				if ask.Memory != nil {
					_ = ask.Memory.Decode(&n)
				}
				if ask.Cause.Kind == grow.Told {
					n++
				}
				switch {
				case n == messages:
					return done(n)
				case n == before && !asked && how == "stop":
					asked = true
					stop()
				case n == before && !asked:
					asked = true
					eng.Suspend()
				case n > before && eng != nil:
					for !ask.Done() { //nolint:revive // no answer is needed any more
					}
				}
				return grow.Growth{Memory: atom.MustEncode(n), Listen: true}
			})
			eng = newEngine(t, flow.Growing("f", hears), engine.WithStore(s))
			if err := eng.Start(t.Context(), "run"); err != nil {
				t.Fatal(err)
			}
			for i := range messages {
				if err := s.Send(t.Context(), storage.Message{Run: "run", Kind: "event", Name: fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := eng.Run(ctx, "run"); !errors.Is(err, want) {
				t.Fatalf("got %v; want %v", err, want)
			}
			eng = nil
			res, err := newEngine(t, flow.Growing("f", hears), engine.WithStore(s)).Run(t.Context(), "run")
			if err != nil || res.Output().String() != fmt.Sprint(messages) {
				t.Fatalf("it heard %v: %v", res, err)
			}
		})
	}
}

// paged is a store that stops its reader at the first page of children.
type paged struct {
	backend.Store

	pages atomic.Int64
	stop  context.CancelFunc
}

func (p *paged) AtomsAt(ctx context.Context, run string, paths ...string) ([]storage.Atom, error) {
	p.pages.Add(1)
	p.stop()
	return p.Store.AtomsAt(ctx, run, paths...)
}

// TestLoadHears stops a process while it loads a run with thousands of children that have ended.
func TestLoadHears(t *testing.T) {
	t.Parallel()
	const children = 3000
	forks := lang(func(ask *grow.Ask) grow.Growth {
		switch c := &ask.Cause; {
		case ask.Index < 0 && c.Kind == grow.Begin:
			return add(grow.Spec{Name: "g", Kind: grow.Fork, Group: &grow.Group{Count: children}})
		case ask.Index == children-1 && c.Kind == grow.Begin:
			return add(grow.Spec{Name: "wait", Kind: grow.Timer, Due: ask.Now.Add(24 * time.Hour)})
		default:
			return done(ask.Index)
		}
	})
	s := memstore.New()
	if _, err := newEngine(t, flow.Growing("f", forks), engine.WithStore(s)).Run(t.Context(), "run", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p := &paged{Store: s, stop: stop}
	_, err := newEngine(t, flow.Growing("f", forks), engine.WithStore(p)).Run(ctx, "run")
	if !errors.Is(err, engine.ErrStopped) || p.pages.Load() != 1 {
		t.Errorf("%d pages were read: %v", p.pages.Load(), err)
	}
	run, err := s.Run(t.Context(), "run")
	if err != nil || run.Owner != "" || run.State.Ended() {
		t.Errorf("%v, owner %q: %v", run.State, run.Owner, err)
	}
	_, err = newEngine(t, flow.Growing("f", forks), engine.WithStore(s)).Command(t.Context(), "run", engine.Cancel("enough"))
	hasEnded(t, s, err, storage.Cancelled)
}

// TestManyWaitingCallsAreCancelled cancels a run with very many calls that wait for a place. The time is proportional
// to their number.
//
// Attack (Large runs): A run, a group or a language gives up 60,000 calls that wait for a slot.
// Result: Time proportional to their number; 4 s for a group.
// Also: `engine/internal/executor: TestCancelWaitingCalls`.
func TestManyWaitingCallsAreCancelled(t *testing.T) {
	t.Parallel()
	longtest.Needs(t)
	const calls = 60_000
	began := make(chan struct{}, 1)
	many := lang(func(ask *grow.Ask) grow.Growth {
		if ask.Cause.Kind != grow.Begin {
			return grow.Growth{}
		}
		var g grow.Growth
		for i := range calls {
			g.Add = append(g.Add, grow.Spec{Name: fmt.Sprint(i), Task: "wait"})
		}
		return g
	})
	s := memstore.New()
	eng := newEngine(t, flow.Growing("f", many), engine.WithStore(s), engine.WithTasks(waitsUntilCancelled{began}))
	var asked time.Time
	err := driven(t, func(ctx context.Context) error { _, err := eng.Run(ctx, "run"); return err }, func(context.CancelFunc) {
		<-began
		asked = time.Now()
		send(t, s, engine.Cancel("enough"))
	})
	hasEnded(t, s, err, storage.Cancelled)
	if took := time.Since(asked); took > 10*time.Second { // before, it took 25 s
		t.Errorf("it took %v to cancel %d calls", took, calls)
	}
}

// waitsUntilCancelled is a task that waits until its context ends.
type waitsUntilCancelled struct{ began chan struct{} }

func (w waitsUntilCancelled) Task(string) (atom.Body, error) { return w, nil }

func (waitsUntilCancelled) Reverts() bool { return false }

func (w waitsUntilCancelled) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	select {
	case w.began <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (waitsUntilCancelled) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}
