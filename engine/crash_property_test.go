package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/internal/taskflowtest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestCrashProperty lets processes of random flows die repeatedly at random commits, before or after them, and resumes
// the runs in other processes. The runs end as without deaths (G5). Every change is legal. Nothing starts before its
// dependencies, and nothing is undone before its dependents. In the end, the world agrees with the states (G3, G4).
func TestCrashProperty(t *testing.T) {
	const times = 500
	check(t, times, func(rt *rapid.T) { crashAnywhere(t, rt) })
}

// crashAnywhere draws a flow with its deaths.
func crashAnywhere(t *testing.T, rt *rapid.T) {
	f := anyFlow(rt)
	c := anyConditions(rt)
	alone := inBubbleOf(t, inMemory(), f, c)
	alone.report(rt, f, c)
	c.deaths = anyDeaths(rt, 1, 3, alone.commits)
	c.seed *= 7 // and running atoms take another time
	got := inBubbleOf(t, inMemory(), f, c)
	got.report(rt, f, c)
	if alone.stuck || got.stuck {
		return // whether the run reaches a failing undo depends on what started beside a failure
	}
	if diff := cmp.Diff(alone.upshot, got.upshot); diff != "" {
		rt.Fatalf("%s\n%+v\nends otherwise than alone (-alone +crashed):\n%s", f, c, diff)
	}
}

// TestOuterKeptProperty covers flows whose inner retries undo only their own flows. Their ends may depend on which
// failure is seen first, but the world always agrees with the states.
func TestOuterKeptProperty(t *testing.T) {
	const times = 500
	check(t, times, func(rt *rapid.T) {
		f := anyFlow(rt)
		c := conditions{
			parallel: rapid.SampledFrom([]int{1, 4}).Draw(rt, "parallel"), keepOuter: true,
			seed: rapid.Uint64Range(0, 1000).Draw(rt, "pace"),
		}
		c.deaths = anyDeaths(rt, 0, 2, 20)
		got := inBubbleOf(t, inMemory(), f, c)
		got.report(rt, f, c)
	})
}

// conditions say how a random flow runs, and where its process dies.
type conditions struct {
	policy    engine.Checkpoints
	parallel  int
	keepOuter bool
	seed      uint64
	deaths    []death
	command   *engine.Command // sent once, after the given number of changes
	commandAt int
}

// anyConditions draws how a flow runs without deaths.
func anyConditions(rt *rapid.T) conditions {
	c := conditions{
		policy:   rapid.SampledFrom([]engine.Checkpoints{engine.Step, engine.Each}).Draw(rt, "policy"),
		parallel: rapid.SampledFrom([]int{1, 4}).Draw(rt, "parallel"),
	}
	if c.parallel > 1 {
		c.seed = rapid.Uint64Range(1, 1000).Draw(rt, "pace")
	}
	return c
}

// anyDeaths draws deaths, each at one of so many commits.
func anyDeaths(rt *rapid.T, least, most, commits int) (deaths []death) {
	for range rapid.IntRange(least, most).Draw(rt, "deaths") {
		deaths = append(deaths, death{commit: rapid.IntRange(1, commits).Draw(rt, "commit"), after: rapid.Bool().Draw(rt, "after it is made")})
	}
	return deaths
}

// A place is where runs are stored. Each process opens it again. A process that dies closes nothing properly.
type place interface {
	open(ctx context.Context) (backend.Store, error)
	died(backend.Store) error
}

type memoryPlace struct{ records *memstore.Store }

func inMemory() place { return memoryPlace{memstore.New()} }

func (p memoryPlace) open(context.Context) (backend.Store, error) { return p.records.Join(), nil }
func (p memoryPlace) died(s backend.Store) error                  { return s.Close() } // which is how the others learn of it

// An account is all information about a run that has ended.
type account struct {
	upshot
	stuck     bool // the undo failed
	processes int
	commits   int
	told      int  // changes
	commanded bool // the command was sent
	faults    []string
}

// An upshot is the part of an account that no crash may change. It does not say whether there was anything to undo,
// because that depends on when a failure was seen beside other atoms.
type upshot struct {
	End    storage.Outcome
	Done   map[string]bool   // atoms that succeeded, or were left out
	Values map[string]string // of the symbols
	Left   []string          // effects
}

// report fails the property for a result that must never happen.
func (a *account) report(rt *rapid.T, f *randomFlow, c conditions) {
	for _, fault := range a.faults {
		rt.Errorf("%s", fault)
	}
	if len(a.faults) > 0 {
		rt.Fatalf("%s\n%+v", f, c)
	}
}

// inBubbleOf runs a random flow to its end, in virtual time.
func inBubbleOf(t *testing.T, where place, f *randomFlow, c conditions) (a *account) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { a = runIn(t, where, f, c, newEffects(c.seed)) })
	return a
}

// runIn runs a random flow to its end.
func runIn(t *testing.T, where place, f *randomFlow, c conditions, world *effects) *account {
	t.Helper()
	a := &account{}
	if err := a.live(t.Context(), where, f, c, world); err != nil {
		a.faults = append(a.faults, err.Error())
	}
	a.faults = append(a.faults, world.faults...)
	return a
}

// live runs one process after the other.
func (a *account) live(ctx context.Context, where place, f *randomFlow, c conditions, world *effects) error {
	for i := 0; ; i++ {
		a.processes++
		store, err := where.open(ctx)
		if err != nil {
			return err
		}
		d := dies(store, forever)
		if i < len(c.deaths) {
			d = c.deaths[i].of(store)
		}
		lifetime := d.left.Load()
		opts := []engine.Option{engine.WithStore(d), engine.WithCheckpoints(c.policy), engine.WithParallelism(c.parallel)}
		if c.command != nil {
			opts = append(opts, engine.WithObserver(func(engine.Event) { a.give(ctx, d, c) }))
		}
		root := f.build(world)
		if c.keepOuter {
			root = taskflowtest.WithFailurePolicy(root, flow.UndoFlow)
		}
		eng, err := engine.New(root, memstore.New(), opts...)
		if err != nil {
			return err
		}
		res, err := eng.Run(ctx, "r")
		a.commits += int(lifetime - d.left.Load())
		switch {
		case errors.Is(err, errDied):
			if err := where.died(store); err != nil {
				return err
			}
			continue
		case res == nil:
			return err
		case errors.Is(err, engine.ErrSuspended) || !res.Run.Due.IsZero(): // a command arrived
			if err := store.Close(); err != nil {
				return err
			}
			continue
		}
		return errors.Join(a.audit(ctx, store, eng, res, f, world), store.Close())
	}
}

// give sends the command at its time. If the process that received it dies, the command is still in the run's inbox.
func (a *account) give(ctx context.Context, s backend.Store, c conditions) {
	if a.told++; a.told != c.commandAt {
		return
	}
	if err := engine.Send(ctx, s, "r", *c.command); err != nil {
		a.faults = append(a.faults, err.Error())
	}
	a.commanded = true
}

// audit checks the history, the end and the world.
func (a *account) audit(ctx context.Context, s backend.Store, eng *engine.Engine, res *engine.Result, f *randomFlow, world *effects) error {
	entries, err := s.History(ctx, "r", 0, 0)
	if err != nil {
		return err
	}
	plan := eng.Plan()
	w := taskflowtest.NewWatch(plan, func(format string, args ...any) { a.faults = append(a.faults, fmt.Sprintf(format, args...)) })
	for i := range entries {
		if e := &entries[i]; e.Kind == storage.EntryAtom {
			w.Changed(plan.Index(e.Path), states.Task(e.From), states.Task(e.To))
		}
	}
	w.Rested(res.Run.State, res.Run.Outcome == storage.Cancelled)
	world.check(f, func(path string) states.Task { return w.States()[plan.Index(path)] })

	atoms, err := s.Atoms(ctx, "r", storage.AtomQuery{})
	if err != nil {
		return err
	}
	world.checkShown(atoms)

	if timers, err := s.RunTimers(ctx, "r"); err != nil || len(timers) > 0 {
		a.faults = append(a.faults, fmt.Sprintf("the run has ended and has the timers %v, %v", timers, err))
	}

	a.stuck = res.Run.Undo == storage.UndoFailed
	a.upshot = upshot{End: res.Run.Outcome, Done: map[string]bool{}, Values: map[string]string{}, Left: world.left()}
	for i, s := range w.States() {
		a.Done[plan.Atoms[i].Name()] = s == states.TaskSuccess || s == states.TaskIgnore && res.Run.Outcome == storage.Succeeded
	}
	for _, symbol := range f.provides() {
		if v, ok := res.Value(symbol); ok {
			a.Values[symbol] = v.String()
		}
	}
	return nil
}
