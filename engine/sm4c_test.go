package engine_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/internal/longtest"
)

// TestConformanceSM4C runs the recorded cases through the engine and a store, in virtual time. Each case runs once
// undisturbed. Then, one of three outside of CI, it runs with a process that dies at each commit in turn, before or after
// it, and another process that resumes the run.
//
// Guarantee (State Machines For Cloud): Every recorded case ends as recorded, also with a death before or after each
// commit.
// Also: ; SQLite: `TestConformanceSM4CSQLite` (one of five short cases); PostgreSQL: `TestConformanceSM4CPostgres` (one
// of four that take no time, few deaths).
func TestConformanceSM4C(t *testing.T) {
	t.Parallel()
	conformance.ForFiles(t, "sm4c", func(t *testing.T, file string) {
		alone, crashed := conformance.NewAspects(file), conformance.NewAspects(file+" crash")
		deaths := 0
		for i, c := range conformance.MachineCases(t, file) {
			alone.CountMachine(c, playMachine(t, c, inMemory(), nil))
			if i%longtest.Count(5, 3, 1) > 0 {
				continue
			}
			got, died := playDying(t, c.Name, c, inMemory, playMachine)
			crashed.CountMachine(c, got)
			deaths += died
		}
		alone.Print(t)
		crashed.Print(t)
		t.Logf("%d deaths", deaths)
		for _, aspect := range conformance.MachineAspects {
			alone.Demand(t, aspect, 1)
			crashed.Demand(t, aspect, 1)
		}
	})
}

// lastsLong reports whether a run of the case waits in the end, or takes more than a minute.
func lastsLong(c *conformance.MachineCase) bool {
	end := c.Expected.Elapsed
	return end == nil || *end > time.Minute.Milliseconds()
}

// TestConformanceSM4CSQLite runs one of five recorded cases that end within a minute on SQLite files, in the same two
// ways.
func TestConformanceSM4CSQLite(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("TestConformanceSM4C runs the same goroutines in less time")
	}
	conformance.ForFiles(t, "sm4c", func(t *testing.T, file string) {
		alone, crashed := conformance.NewAspects(file+" sqlite"), conformance.NewAspects(file+" sqlite crash")
		for i, c := range conformance.MachineCases(t, file) {
			if i%longtest.Count(25, 10, 1) > 0 || !longtest.All() && lastsLong(c) {
				continue
			}
			where := func() place { return closedOnDisk{onDisk{crashdisk.Careless(t)}} }
			alone.CountMachine(c, playMachine(t, c, where(), nil))
			got, _ := playDying(t, c.Name, c, where, playMachine)
			crashed.CountMachine(c, got)
		}
		alone.Print(t)
		crashed.Print(t)
		for _, aspect := range conformance.MachineAspects {
			alone.Demand(t, aspect, 1)
			crashed.Demand(t, aspect, 1)
		}
	})
}

// closedOnDisk is a place whose processes release their runs when they die.
type closedOnDisk struct{ onDisk }

func (closedOnDisk) died(s backend.Store) error { return s.Close() }

// A playable case says, by aspect, what was unexpected in the end of a run.
type playable[E any] interface{ Compare(end E) map[string]string }

// playDying plays a case as often as there are points of death. It returns the first unexpected end, and the number of
// deaths.
func playDying[C playable[E], E any](
	t *testing.T, name string, c C, where func() place, play func(*testing.T, C, place, *death) E,
) (end E, died int) {
	t.Helper()
	for _, after := range []bool{false, true} {
		for commit := 1; ; commit++ {
			d := &death{commit: commit, after: after}
			end = play(t, c, where(), d)
			for _, miss := range c.Compare(end) {
				if miss != "" {
					t.Logf("%s: death at commit %d, after it %v", name, commit, after)
					return end, died
				}
			}
			if d.commit > 0 { // no process died
				break
			}
			died++
		}
		if testing.Short() {
			break
		}
	}
	return end, died
}
