package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/conformance"
)

var (
	serial     = engine.WithParallelism(1)
	sideBySide = engine.WithParallelism(100) // more atoms than any case has
	each       = engine.WithCheckpoints(engine.Each)
)

// TestConformanceTaskFlow plays the recorded cases, with their interrupts, through engine and store, and compares
// everything.
func TestConformanceTaskFlow(t *testing.T) {
	t.Parallel()
	forFiles(t, "each", func(t *testing.T, file string) {
		tally := conformance.NewTaskFlowTally(file, "each")
		for _, rec := range conformance.TaskFlow(t, file) {
			if measures(rec, tally) {
				tally.Add(rec, rec.Compare(newPlayer(t, rec, serial, each).play()))
			}
		}
		tally.Print(t)
	})
	// Under Step, several changes share a commit. An interrupt at one of them happens after the last, before any call
	// because of them. TaskFlow has no such place. Then the reference is Each, which was compared with TaskFlow:
	// interrupted after the same last change, without the calls since the first.
	forFiles(t, "step", func(t *testing.T, file string) {
		tally := conformance.NewTaskFlowTally(file, "step")
		within := conformance.NewTaskFlowTally(file, "step, interrupted within a commit, as each")
		for _, rec := range conformance.TaskFlow(t, file) {
			if !measures(rec, tally) {
				continue
			}
			p := newPlayer(t, rec, serial)
			out := p.play()
			if !p.struckWithin() {
				tally.Add(rec, rec.Compare(out))
				continue
			}
			judge := newPlayer(t, rec, serial, each)
			judge.places = p.strikes
			want := &conformance.TaskFlowRecord{Name: rec.Name, Case: rec.Case, Expect: *judge.play()}
			within.Add(rec, want.Compare(out))
		}
		tally.Print(t)
		within.Print(t)
	})
	// These records also hold for an engine that runs atoms side by side. Here the atoms end in the opposite order.
	forFiles(t, "parallel", func(t *testing.T, file string) {
		tally := conformance.NewTaskFlowTally(file, "parallel")
		for _, rec := range conformance.TaskFlow(t, file) {
			if rec.Expect.OrderInsensitive && measures(rec, tally) {
				synctest.Test(t, func(t *testing.T) {
					p := newPlayer(t, rec, sideBySide, each)
					p.world.Work, p.waves = lastFirst(rec), true
					tally.Add(rec, rec.CompareFacts(p.play()))
				})
			}
		}
		tally.Print(t)
	})
}

// TestTaskFlowDepartures plays our own cases, in the form of the recorded ones, one for each departure from TaskFlow.
func TestTaskFlowDepartures(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("internal/scheduler/testdata/departures.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{"P1": true, "P2": true, "P3": true, "P4": true, "P5": true, "P6": true, "P7": true, "P9": true, "P10": true}
	for line := range bytes.Lines(text) {
		rec := new(conformance.TaskFlowRecord)
		if err := json.Unmarshal(line, rec); err != nil {
			t.Fatal(err)
		}
		departure, _, _ := strings.Cut(rec.Name, " ")
		delete(missing, departure)
		if miss := rec.Compare(newPlayer(t, rec, serial, each).play()); miss != "" {
			t.Errorf("%s: %s", rec.Name, miss)
		}
	}
	if len(missing) > 0 {
		t.Errorf("there are no cases for %v", slices.Sorted(maps.Keys(missing)))
	}
}

// TestTaskFlowAnyOrder plays the recorded cases with concurrent atoms that take any time, and others that start in
// between. The player's watch checks what must hold in any order.
func TestTaskFlowAnyOrder(t *testing.T) {
	t.Parallel()
	forFiles(t, "any order", func(t *testing.T, file string) {
		for _, rec := range conformance.TaskFlow(t, file) {
			for seed := range uint64(3) {
				for _, policy := range []engine.Checkpoints{engine.Each, engine.Step} {
					synctest.Test(t, func(t *testing.T) {
						p := newPlayer(t, rec, sideBySide, engine.WithCheckpoints(policy))
						p.world.Work = takeTime(seed)
						p.play()
					})
				}
				if t.Failed() {
					t.Fatalf("in %s with seed %d", rec.Name, seed)
				}
			}
		}
	})
}

// forFiles runs a parallel subtest for each file of cases.
func forFiles(t *testing.T, name string, test func(t *testing.T, file string)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		conformance.ForFiles(t, "taskflow", func(t *testing.T, file string) {
			t.Parallel()
			test(t, file)
		})
	})
}

// measures reports whether a record counts for Ebb. It counts those that do not.
func measures(rec *conformance.TaskFlowRecord, tally *conformance.TaskFlowTally) bool {
	why := rec.Departure()
	if why != "" {
		tally.LeaveOut(why)
	}
	return why == ""
}

// struckWithin reports whether an interrupt happened at one of several changes.
func (p *player) struckWithin() bool {
	for _, s := range p.strikes {
		if s.first < s.last {
			return true
		}
	}
	return false
}

// lastFirst makes calls that start together end in the opposite order.
func lastFirst(rec *conformance.TaskFlowRecord) func(conformance.TaskFlowCall) {
	place := rec.Case.Index()
	return func(c conformance.TaskFlowCall) {
		time.Sleep(time.Duration(len(place)-place[c.Atom]) * time.Millisecond)
	}
}

// takeTime gives each call a duration, which only the call and the seed determine.
func takeTime(seed uint64) func(conformance.TaskFlowCall) {
	return func(c conformance.TaskFlowCall) {
		h := fnv.New64a()
		fmt.Fprint(h, seed, c.Kind, c.Atom, c.N)
		time.Sleep(time.Duration(h.Sum64()%100) * time.Millisecond)
	}
}
