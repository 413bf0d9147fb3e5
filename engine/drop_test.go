package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestDrop lets a language drop nodes that it no longer needs.
func TestDrop(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		first := lang(func(ask *grow.Ask) grow.Growth {
			switch c := &ask.Cause; c.Kind {
			case grow.Begin:
				return add(work("slow"), work("quick"), grow.Spec{Name: "timer", Kind: grow.Timer, Due: ask.Now.Add(time.Hour)})
			case grow.Ended:
				if c.Name == "quick" {
					g := add(work("after"))
					g.Drop = []string{"slow", "timer"}
					return g
				}
				if c.Name == "after" {
					return done(nil)
				}
				t.Errorf("asked about %s", c.Name)
			default:
				t.Errorf("asked about %s: %v", c.Name, c.Kind)
			}
			return grow.Growth{}
		})
		s := &stage{do: script{"slow": untilCancelled}}
		if len(opts) > 0 { // with one at a time, the quick one would never run
			opts = append(opts, engine.WithParallelism(2))
		}
		eng := newEngine(t, flow.Growing("f", first), append(opts, engine.WithTasks(parts{s}))...)
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		wantStates(t, eng.Store(), "r", "/ SUCCESS", "after SUCCESS", "quick SUCCESS", "slow CANCELLED", "timer CANCELLED")
		s.took()
		_, err := eng.Command(t.Context(), "r", engine.Cancel(""))
		reverted(t, err)
		if acts := s.took(); len(acts) != 3 {
			t.Errorf("undone were %v; want what was given up, too", acts)
		}
	})
}

// dropsAll is a language that drops a task and a subflow as soon as another task has ended, with or without an undo of
// the subflow's work.
func dropsAll(undoing bool) lang {
	return func(ask *grow.Ask) grow.Growth {
		c := &ask.Cause
		switch {
		case c.Kind == grow.Begin && ask.Index >= 0:
			return add(work("x"))
		case ask.Index >= 0 && c.Name == "x":
			return add(work("y"))
		case c.Kind == grow.Begin:
			return add(work("first"), work("slow"), work("quick"), grow.Spec{Name: "sub", Kind: grow.Fork, Group: &grow.Group{Count: 2}})
		case c.Name == "first":
			return grow.Growth{}
		case c.Name == "quick" && undoing:
			return grow.Growth{Drop: []string{"slow", "sub"}, Undo: &grow.Undoing{Under: "sub"}}
		case c.Name == "quick":
			return grow.Growth{Drop: []string{"slow", "sub"}, Add: []grow.Spec{work("after")}}
		case c.Kind == grow.Undone:
			return add(work("after"))
		case c.Name == "after":
			return done(nil)
		default:
			return failure(&atom.Failure{Code: "Asked", Message: fmt.Sprintf("about %s %q", c.Kind, c.Name)})
		}
	}
}

// dropping are the tasks of dropsAll.
type dropping struct {
	travels

	t     *testing.T
	after bool // the effect that follows the drop happened
}

func (d *dropping) Task(string) (atom.Body, error) { return d, nil }

func (*dropping) Reverts() bool { return false }

func (d *dropping) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	path := atom.CurrentCall(ctx).Path
	d.set(path, true)
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "slow", "y":
		if d.follows() {
			d.t.Errorf("%s began again", path)
		}
		return nil, untilCancelled(ctx, 1)
	case "quick":
		time.Sleep(time.Minute) // the others are in the middle then
	case "after":
		d.follow()
	}
	return atom.Null, nil
}

// follow records an effect that follows the drop. By then, everything that started before has reached its task.
func (d *dropping) follow() {
	time.Sleep(time.Second)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.after = true
}

func (d *dropping) follows() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.after
}

func (d *dropping) Revert(ctx context.Context, _ atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	d.follow()
	d.set(atom.CurrentCall(ctx).Path, false)
	return atom.Null, nil
}

// TestDroppedSubflowSurvives drops a task and a subflow while they execute, in processes that die at every commit.
// Neither continues. Their work is undone before the flow continues, on request, and otherwise with the run.
//
// Guarantee (G5): What a growing flow dropped stays dropped, and is undone first on request, with a death at every
// commit.
func TestDroppedSubflowSurvives(t *testing.T) {
	t.Parallel()
	for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
		for _, undoing := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				l := &dropping{t: t, travels: travels{booked: map[string]bool{}}}
				var records backend.Store
				build := func(s backend.Store) *engine.Engine {
					records = s.(*mortal).Store
					return newEngine(t, flow.Growing("f", dropsAll(undoing)), engine.WithTasks(l), engine.WithStore(s), engine.WithCheckpoints(policy))
				}
				run := livesUntil(t, build, func(backend.Store) { t.Error("it does nothing but wait") })
				wantEnd(t, run, "SUCCESS", storage.Succeeded, storage.UndoNone)
				want := "[after first quick slow]"
				if !undoing {
					want = "[after first quick slow sub[0]/x sub[0]/y sub[1]/x sub[1]/y]"
				}
				if got := fmt.Sprint(slices.Sorted(maps.Keys(l.booked))); got != want {
					t.Errorf("left are %s; want %s", got, want)
				}
				store := records.(*memstore.Store).Join()
				_, err := build(dies(store, forever)).Command(t.Context(), "r", engine.Cancel(""))
				reverted(t, err)
				if len(l.booked) > 0 {
					t.Errorf("not undone were %v", l.booked)
				}
			})
		}
	}
}
