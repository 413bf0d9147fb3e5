package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A widest store knows the largest number of cancelled atoms in one commit.
type widest struct {
	backend.Store
	cancelled, commits int
}

func (w *widest) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	n := 0
	for i := range cp.Atoms {
		if cp.Atoms[i].State == states.TaskCancelled {
			n++
		}
	}
	if w.cancelled = max(w.cancelled, n); n > 0 {
		w.commits++
	}
	return w.Store.Commit(ctx, c, cp)
}

// TestScaleCancelled ends very many child flows at once, because the first of them decides their fork. Commits stay
// small for any number of them.
//
// Attack (Large runs): A fork of 120,000 children is decided or cancelled while all wait or execute.
// Result: Some 1,000 rows a commit; Ebb continues after a crash.
func TestScaleCancelled(t *testing.T) {
	n := scale(t, 5_000)
	for name, wait := range map[string]grow.Spec{
		"waiting":   {Name: "wait", Kind: grow.Timer},
		"executing": {Name: "wait", Task: "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &widest{Store: memstore.New()}
			begun := 0
			language := lang(func(ask *grow.Ask) grow.Growth {
				switch cause := &ask.Cause; {
				case ask.Index < 0 && cause.Kind == grow.Begin:
					return add(grow.Spec{Name: "g", Kind: grow.Fork, Group: &grow.Group{Count: n, Need: 1, Abandon: true}})
				case ask.Index < 0:
					return done(nil)
				case cause.Kind == grow.Begin && ask.Index == 0:
					return add(grow.Spec{Name: "first", Kind: grow.Timer, Due: ask.Now.Add(time.Second)})
				case cause.Kind == grow.Begin:
					begun++
					spec := wait
					spec.Due = ask.Now
					if spec.Kind == grow.Timer {
						spec.Due = ask.Now.Add(time.Hour)
					}
					return add(spec)
				default:
					return done(nil)
				}
			})
			eng := newEngine(t, flow.Growing("f", language), engine.WithStore(w), engine.WithTasks(stuck{}), engine.WithParallelism(8))
			if _, err := eng.Run(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			atoms, err := w.AtomsAt(t.Context(), "r", "g[1]", "g[1]/wait")
			if err != nil || len(atoms) != 2 || atoms[0].State != atoms[1].State || atoms[0].State.String() != "CANCELLED" {
				t.Errorf("%+v: %v", atoms, err)
			}
			now, peak := resident()
			t.Logf("%d children, %d begun: at most %d cancelled in one of %d commits; %d MiB resident, at most %d MiB", n, begun, w.cancelled, w.commits, now, peak)
			if w.cancelled > 2_000 || w.commits == 0 {
				t.Errorf("one of %d commits cancelled %d", w.commits, w.cancelled)
			}
		})
	}
}

// stuck are tasks that wait until they are cancelled.
type stuck struct{}

func (stuck) Task(string) (atom.Body, error) { return stuck{}, nil }

func (stuck) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stuck) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (stuck) Reverts() bool { return false }
