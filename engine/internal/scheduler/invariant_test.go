package scheduler_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
)

// guard watches a driver for what must hold in any order: an atom runs only
// after what it depends on, is reverted only if it ran, and only after what
// depended on it. That states change as the tables allow the scheduler sees to
// itself.
func guard(d *driver) {
	d.saw = func(c *scheduler.Command) {
		name := d.plan.Atoms[c.Atom].Name()
		switch {
		case c.To == states.TaskRunning && c.From == states.TaskPending:
			d.around(c.Atom, d.plan.Pred, func(b int32, s states.Task) {
				if s != states.TaskSuccess && s != states.TaskIgnore {
					d.t.Errorf("%s began when %s before it was %v", name, d.plan.Atoms[b].Name(), s)
				}
			})
		case c.To == states.TaskReverting:
			if c.From == states.TaskPending || c.From == states.TaskIgnore || c.From == states.TaskReverted {
				d.t.Errorf("%s is reverted from %v", name, c.From)
			}
			d.around(c.Atom, d.plan.Succ, func(b int32, s states.Task) {
				if s != states.TaskPending && s != states.TaskReverted && s != states.TaskIgnore {
					d.t.Errorf("%s is reverted when %s after it was %v", name, d.plan.Atoms[b].Name(), s)
				}
			})
		}
	}
}

// around calls do for every atom that is reached from an atom.
func (d *driver) around(a int32, next func(n int32) []int32, do func(b int32, s states.Task)) {
	seen := map[int32]bool{}
	for work := []int32{d.plan.Atoms[a].Node}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, v := range next(n) {
			if !seen[v] {
				seen[v] = true
				work = append(work, v)
				if b := d.plan.Nodes[v].Atom; b >= 0 {
					do(b, d.kept.records[b].State)
				}
			}
		}
	}
}

// checkEnd checks that the end follows from the states of the atoms.
func checkEnd(d *driver) {
	ok, stuck, busy := true, false, false
	for i := range d.kept.records {
		switch s := d.kept.records[i].State; s {
		case states.TaskSuccess, states.TaskIgnore:
		case states.TaskRevertFailure:
			stuck, ok = true, false
		case states.TaskRunning, states.TaskReverting, states.TaskRetrying:
			busy, ok = true, false
		default:
			ok = false
		}
	}
	switch end := d.kept.flow; {
	case busy && end != states.FlowSuspended && !d.run.Crashed:
		d.t.Errorf("ended %v with atoms in the middle", end)
	case (end == states.FlowSuccess) != ok && end != states.FlowSuspended:
		d.t.Errorf("ended %v; all atoms are done: %t", end, ok)
	case stuck && end == states.FlowReverted:
		d.t.Error("ended REVERTED although a revert failed")
	}
}

// TestAnyOrder plays the recorded cases with completions told in any order and
// new work begun in between.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	for _, file := range taskflowFiles {
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
				checkEnd(d)
				if t.Failed() {
					t.Fatalf("in %s with seed %d", rec.Name, seed)
				}
			}
		}
	}
}

// TestConformanceTaskFlowWaves plays the recorded cases that do not depend on
// order with each wave's completions told in another one.
func TestConformanceTaskFlowWaves(t *testing.T) {
	t.Parallel()
	for _, file := range taskflowFiles {
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
	}
}

// TestAnyFlow plays random flows in any order.
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
		checkEnd(d)
	})
}

// TestCrash lets random flows die after any write: they end as they do when
// they are left alone, and what is done, or is not, is the same. Whether an atom
// that is not done was begun at all may depend on when others ended.
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
		checkEnd(d)
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
