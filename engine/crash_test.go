package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A world holds the effects of tasks.
type world struct {
	mu    sync.Mutex
	there map[string]bool // effects, by the key of the call that made them
	calls []string
}

func (w *world) call(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, text)
}

func (w *world) set(key string, there bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.there == nil {
		w.there = map[string]bool{}
	}
	if there {
		w.there[key] = true
	} else {
		delete(w.there, key)
	}
}

// task has an effect and can revert it. It fails while fail says so.
func (w *world) task(name string, fail func(incarnation int) bool) *atom.Atom {
	return atom.Untyped(name,
		func(ctx context.Context, _ atom.Values) (any, error) {
			w.call(fmt.Sprintf("do %s@%d", name, atom.CurrentCall(ctx).Incarnation))
			w.set(atom.IdempotencyKey(ctx), true)
			if c := atom.CurrentCall(ctx); fail != nil && fail(c.Incarnation) {
				return nil, atom.Errorf("Refused", "%s will not", name)
			}
			return name, nil
		},
		func(ctx context.Context, _ atom.Values, _ atom.Outcome[atom.Value]) (any, error) {
			w.call("undo " + name)
			w.set(atom.IdempotencyKey(ctx), false)
			return nil, nil
		})
}

func always(int) bool { return true }

// Task makes a world the registry of a language's tasks: do:x has an effect, fail:x has one and fails, undo:x reverts
// it.
func (w *world) Task(name string) (atom.Body, error) {
	how, what, _ := strings.Cut(name, ":")
	return worldTask{w, how, what}, nil
}

type worldTask struct {
	w         *world
	how, what string
}

func (t worldTask) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return t.run(ctx, in, t.how)
}

func (t worldTask) Revert(ctx context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return t.run(ctx, in, "undo")
}

func (t worldTask) Reverts() bool { return true }

func (t worldTask) run(ctx context.Context, _ atom.Values, how string) (atom.Value, error) {
	t.w.call(fmt.Sprintf("%s %s@%d", how, t.what, atom.CurrentCall(ctx).Incarnation))
	t.w.set(atom.IdempotencyKey(ctx), how != "undo")
	if how == "fail" {
		return nil, atom.Errorf("Refused", "%s will not", t.what)
	}
	return atom.Encode(t.what)
}

const machine = `{"StartAt":"A","States":{
 "A":{"Type":"Task","Resource":"do:a","Revert":"undo:a","Next":"P"},
 "P":{"Type":"Parallel","Next":"W","Branches":[
  {"StartAt":"L","States":{"L":{"Type":"Task","Resource":"do:l","Revert":"undo:l","Next":"M"},
   "M":{"Type":"Task","Resource":"do:m","Revert":"undo:m","End":true}}},
  {"StartAt":"R","States":{"R":{"Type":"Task","Resource":"do:r","Revert":"undo:r","End":true}}}]},
 "W":{"Type":"Wait","Seconds":0,"Next":"B"},
 "B":{"Type":"Task","Resource":"fail:b","Revert":"undo:b","End":true,
      "Retry":[{"ErrorEquals":["Refused"],"MaxAttempts":1,"IntervalSeconds":1,"BackoffRate":1,"MaxDelaySeconds":2}]}}}`

// TestCrashAnywhere kills the process after each commit in turn, and resumes the run in another. It expects the end of
// an undisturbed run (G1, G5): the same states, all effects reverted, and no task executed again after its success was
// committed.
//
// Guarantee (G2): An atom whose success is committed does not execute again.
// Also: `cmd/ebb: TestCrashAnywhere`.
//
// Guarantee (G5): Two Go flows and a state machine end the same with a death after each commit.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	for name, build := range crashFlows(t) {
		for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
			t.Run(fmt.Sprintf("%s/%d", name, policy), func(t *testing.T) {
				t.Parallel()
				alone := inBubble(t, build, policy, deaths())
				if len(alone.left) > 0 {
					t.Fatalf("left in the world: %v", alone.left)
				}
				for k := 0; ; k++ {
					got := inBubble(t, build, policy, deaths(k))
					alone.same(t, fmt.Sprintf("death after commit %d", k), got)
					if !got.died {
						t.Logf("%d places to die", k)
						break
					}
				}
			})
		}
	}
}

// crashFlows are flows that end undone.
func crashFlows(t *testing.T) map[string]func(*world) flow.Node {
	t.Helper()
	return map[string]func(w *world) flow.Node{
		"linear": func(w *world) flow.Node {
			return flow.Linear("f", w.task("a", nil), w.task("b", nil), w.task("c", always))
		},
		"graph with retry": func(w *world) flow.Node {
			a, z := w.task("a", nil), w.task("z", always)
			tried := flow.Linear("tried", w.task("b", nil), w.task("c", func(n int) bool { return n < 2 })).
				WithRetry(atom.Times(3, atom.Backoff{}))
			side := flow.Unordered("side", w.task("s", nil), w.task("t", nil))
			return flow.Graph("f", a, tried, side, z).Link(a, tried).Link(a, side).Link(tried, z).Link(side, z)
		},
		"states language": func(*world) flow.Node {
			m, err := asl.Parse("f", []byte(machine))
			if err != nil {
				t.Fatal(err)
			}
			return m.Flow()
		},
	}
}

type ending struct {
	states map[string]string
	left   []string
	again  string
	died   bool
}

// same compares with the end of an undisturbed run.
func (e *ending) same(t *testing.T, what string, got ending) {
	t.Helper()
	if diff := cmp.Diff(e.states, got.states); diff != "" || len(got.left) > 0 {
		t.Fatalf("%s: left %v, states differ (-alone +got):\n%s", what, got.left, diff)
	}
	if got.again != "" {
		t.Fatalf("%s: %q was executed again though its success was committed", what, got.again)
	}
}

// faultyStores returns the store of each process in turn, on the process's own records. It returns nil once the store
// has no fault any more.
type faultyStores func(i int, process backend.Store) backend.Store

// deaths lets the process die after the given number of commits, and the next process after the next number, and so on.
func deaths(after ...int) faultyStores {
	return func(i int, process backend.Store) backend.Store {
		if i < len(after) {
			return dies(process, after[i])
		}
		return nil
	}
}

// inBubble is runTo in virtual time.
func inBubble(t *testing.T, build func(*world) flow.Node, policy engine.Checkpoints, f faultyStores) (end ending) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { end = runTo(t, build, policy, f) })
	return end
}

// runTo runs a flow in one process after the other until it ends.
func runTo(t *testing.T, build func(*world) flow.Node, policy engine.Checkpoints, f faultyStores) (end ending) {
	t.Helper()
	w := &world{}
	records := memstore.New()
	for i := 0; ; i++ {
		process := records.Join()
		var store backend.Store = process
		faulty := f(i, process)
		if faulty != nil {
			store = faulty
		}
		before := succeeded(t, records)
		calls := len(w.calls)
		eng, err := engine.New(build(w), store, engine.WithTasks(w), engine.WithCheckpoints(policy), engine.WithParallelism(2))
		if err != nil {
			t.Fatal(err)
		}
		_, err = eng.Run(t.Context(), "r")
		for _, call := range w.calls[calls:] {
			if what, ok := strings.CutPrefix(call, "do "); ok && before[what] {
				end.again = what
			}
		}
		if err := process.Close(); err != nil {
			t.Fatal(err)
		}
		if faulty != nil && errors.As(err, new(*engine.StoreError)) {
			end.died = true
			continue
		}
		if _, reverted := errors.AsType[*engine.RevertedError](err); !reverted {
			t.Fatalf("process %d ended with %v; want it reverted", i, err)
		}
		break
	}
	for key := range w.there {
		end.left = append(end.left, key)
	}
	end.states = map[string]string{}
	atoms, err := records.Atoms(t.Context(), "r", storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range atoms {
		end.states[a.Path] = a.State.String()
	}
	return end
}

// succeeded returns the atoms whose success is committed and not undone.
func succeeded(t *testing.T, s backend.Store) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	atoms, err := s.Atoms(t.Context(), "r", storage.AtomQuery{})
	if errors.Is(err, storage.ErrNotFound) {
		return out
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range atoms {
		name := a.Path[strings.LastIndexByte(a.Path, '/')+1:]
		out[fmt.Sprintf("%s@%d", strings.ToLower(name), a.Incarnation)] = a.State == states.TaskSuccess
	}
	return out
}
