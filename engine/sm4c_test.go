package engine_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/storage"
)

// TestConformanceSM4C runs the recorded cases through the engine and a store, in
// virtual time: once undisturbed, and then with a process that dies at each
// commit in turn, before it is made or after, and another that goes on.
func TestConformanceSM4C(t *testing.T) {
	t.Parallel()
	for _, file := range conformance.MachineFiles(t) {
		alone, crashed := conformance.NewAspects(file), conformance.NewAspects(file+" crash")
		deaths := 0
		for _, c := range conformance.MachineCases(t, file) {
			alone.CountMachine(c, playMachine(t, c, inMemory(), nil))
			got, died := playDying(t, c, inMemory, playMachine)
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
	}
}

// TestConformanceSM4CSQLite runs one of five recorded cases, of those that are
// over within a minute, on SQLite files in the same two ways.
func TestConformanceSM4CSQLite(t *testing.T) {
	t.Parallel()
	for _, file := range conformance.MachineFiles(t) {
		alone, crashed := conformance.NewAspects(file+" sqlite"), conformance.NewAspects(file+" sqlite crash")
		for i, c := range conformance.MachineCases(t, file) {
			if end := c.Expected.Elapsed; i%5 > 0 || end == nil || *end > time.Minute.Milliseconds() {
				continue
			}
			where := func() place { // for speed: it does not wait for the disk
				dir := t.TempDir()
				crashdisk.Watch(t, dir)
				return closedOnDisk{onDisk{dir}}
			}
			alone.CountMachine(c, playMachine(t, c, where(), nil))
			if !testing.Short() {
				got, _ := playDying(t, c, where, playMachine)
				crashed.CountMachine(c, got)
			}
		}
		alone.Print(t)
		crashed.Print(t)
		for _, aspect := range conformance.MachineAspects {
			alone.Demand(t, aspect, 1)
			crashed.Demand(t, aspect, 1)
		}
	}
}

// closedOnDisk is a place whose processes give up what they own when they die.
type closedOnDisk struct{ onDisk }

func (closedOnDisk) died(s storage.Store) error { return s.Close() }

// playDying plays a case as often as there are places to die. It returns the
// first end that is not what is expected, and how many deaths there were.
func playDying(
	t *testing.T, c *conformance.MachineCase, where func() place,
	play func(*testing.T, *conformance.MachineCase, place, *death) *conformance.MachineEnd,
) (end *conformance.MachineEnd, died int) {
	t.Helper()
	for _, after := range []bool{false, true} {
		for commit := 1; ; commit++ {
			d := &death{commit: commit, after: after}
			end = play(t, c, where(), d)
			for _, miss := range c.Compare(end) {
				if miss != "" {
					t.Logf("%s: death at commit %d, after it %v", c.Name, commit, after)
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
