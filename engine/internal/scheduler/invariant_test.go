package scheduler_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/engine/internal/taskflowtest"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
)

// A guard checks that a driver's steps are legal in any order, and compares the result with the driver's end.
func guard(d *driver) {
	w := taskflowtest.NewWatch(d.plan, d.t.Errorf)
	d.saw = func(c *scheduler.Command) { w.Changed(c.Unit.Index, c.From, c.To) }
	d.rested = func() { w.Rested(d.kept.flow, false) }
}

// TestAnyOrder plays the recorded cases with completions in any order, and new work that starts in between.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	conformance.ForFiles(t, "taskflow", func(t *testing.T, file string) {
		for _, rec := range conformance.TaskFlow(t, file) {
			for seed := range uint64(5) {
				d, err := newDriver(t, &rec.Case)
				if err != nil {
					break
				}
				random := rand.New(rand.NewPCG(seed, 1))
				d.next = func(n int) int { return random.IntN(n+1) - 1 }
				guard(d)
				d.play()
				if t.Failed() {
					t.Fatalf("in %s with seed %d", rec.Name, seed)
				}
			}
		}
	})
}

// TestConformanceTaskFlowWaves plays the recorded cases that do not depend on order, with the completions of each wave
// in another order.
func TestConformanceTaskFlowWaves(t *testing.T) {
	t.Parallel()
	conformance.ForFiles(t, "taskflow", func(t *testing.T, file string) {
		tally := conformance.NewTaskFlowTally(file, "reversed waves")
		for _, rec := range conformance.TaskFlow(t, file) {
			if rec.Departure() != "" || !rec.Expect.OrderInsensitive {
				continue
			}
			d, err := newDriver(t, &rec.Case)
			if err != nil {
				t.Fatal(err)
			}
			d.next = last
			guard(d)
			tally.Add(rec, rec.CompareFacts(d.play()))
		}
		tally.Print(t)
	})
}

// TestAnyFlow plays random flows in any order.
//
// Guarantee (G3): Random flows and recorded cases follow the rules when atoms end in any order.
// Also: `TestAnyOrder`, `engine: TestTaskFlowAnyOrder`.
//
// Guarantee (G4): Random flows revert in a legal order, and effects match states.
// Also: `engine: TestCrashProperty`, `TestOuterKeptProperty`.
func TestAnyFlow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, err := newDriver(t, anyCase(t, true))
		if err != nil {
			t.Fatal(err)
		}
		d.next = func(n int) int { return rapid.IntRange(-1, n-1).Draw(t, "next") }
		guard(d)
		d.play()
	})
}

// TestCrash lets random flows die after any write. They end as without a death, with the same atoms done. Whether an
// atom that is not done was started may depend on when others ended.
//
// Guarantee (G5): Random flows end the same with a death after any write of the scheduler, or repeated deaths around
// random commits.
// Also: `engine: TestCrashProperty`.
func TestCrash(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyCase(t, false)
		c.Options.DeferReverts = true // otherwise it counts which failure is seen first
		alone, err := newDriver(t, c)
		if err != nil {
			t.Fatal(err)
		}
		alone.play()
		d, err := newDriver(t, c)
		if err != nil {
			t.Fatal(err)
		}
		d.crashAt = rapid.IntRange(1, alone.writes).Draw(t, "crash at")
		guard(d)
		d.segment("run", false)
		if d.run.Crashed && !d.kept.flow.Ended() {
			d.reload()
			d.segment("reload_run", true)
		}
		if got, want := d.kept.flow, alone.kept.flow; got != want {
			t.Errorf("crashed after write %d: ended %v, want %v", d.crashAt, got, want)
		}
		for i := range d.kept.records {
			if got, want := d.kept.records[i].State, alone.kept.records[i].State; (got == states.TaskSuccess) != (want == states.TaskSuccess) {
				t.Errorf("crashed after write %d: %s is %v, want %v", d.crashAt, d.plan.Atoms[i].Name(), got, want)
			}
		}
	})
}
