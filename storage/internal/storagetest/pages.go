package storagetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testAtomPages reads atoms in pages. Some are in the tables of a database, some in the run's row, and some have
// changed since they were first written.
func testAtomPages(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	all := map[string]storage.Atom{}
	for i := range 90 {
		now := []storage.Atom{{Path: fmt.Sprint("atom", i), Live: true, Spec: value(strings.Repeat("s", 50))}}
		if i%3 > 0 {
			was := all[fmt.Sprint("atom", i-1)]
			was.Live, was.Note = i%2 == 0, inline(i)
			now = append(now, was)
		}
		p.write(t, backend.Checkpoint{Atoms: now})
		for _, a := range now {
			all[a.Path] = a
		}
	}
	for _, live := range []bool{false, true} {
		var paths []string
		for _, path := range slices.Sorted(maps.Keys(all)) {
			if !live || all[path].Live {
				paths = append(paths, path)
			}
		}
		for at, after := range append([]string{""}, paths...) {
			for _, limit := range []int{0, 1, 7, len(paths)} {
				var want []storage.Atom
				for _, path := range paths[at:] {
					if limit == 0 || len(want) < limit {
						want = append(want, all[path])
					}
				}
				got := ask[[]storage.Atom](t,
					"Atoms")(s.Atoms(t.Context(), "a", storage.AtomQuery{Live: live, After: after, Limit: limit}))
				same(t, fmt.Sprintf("atoms after %q, limit %d, live %v", after, limit, live), want, got)
			}
		}
	}
}

// testLargePages: large values end a page early, and nothing is lost.
func testLargePages(t *testing.T, m Maker) {
	s := m.open(t)
	create(t, s, run("a"))
	p := begin(t, s, "a")
	const records, size, fit = 12, storage.PageBytes / 5, 5
	for i := range records {
		p.write(t, backend.Checkpoint{
			Payloads: []backend.Payload{{Data: value(strings.Repeat("x", size))}},
			Atoms:    []storage.Atom{{Path: fmt.Sprint("atom", i), Result: storage.Held{Ref: int64(i) + 1}}},
			History:  []storage.Entry{{Kind: storage.EntryAtom, Path: "x", Body: storage.Held{Ref: int64(i) + 1}}},
		})
	}
	atoms := ask[[]storage.Atom](t, "Atoms")(s.Atoms(t.Context(), "a", storage.AtomQuery{Limit: records}))
	entries := ask[[]storage.Entry](t, "History")(s.History(t.Context(), "a", 0, records))
	if len(atoms) != fit || len(entries) != fit {
		t.Errorf("%d atoms and %d entries in a page; want %d", len(atoms), len(entries), fit)
	}
	var read []string
	for a, err := range storage.EachAtom(t.Context(), s, "a", storage.AtomQuery{}) {
		must(t, "EachAtom", err)
		read = append(read, a.Path)
	}
	for e, err := range storage.EachEntry(t.Context(), s, "a", 0) {
		must(t, "EachEntry", err)
		read = append(read, strconv.FormatInt(e.Seq, 10))
	}
	if len(read) != 2*records {
		t.Errorf("read %v", read)
	}
	testLargeRuns(t, m)
	testLargeSchedules(t, m)
}

// testLargeSchedules: large inputs end a page of schedules, and one of due schedules, early, and nothing is lost.
func testLargeSchedules(t *testing.T, m Maker) {
	s := m.open(t)
	const records, size, fit = 12, storage.PageBytes / 5, 5
	for i := range records {
		must(t, "PutSchedule", s.PutSchedule(t.Context(), backend.Schedule{
			ID: fmt.Sprintf("s%02d", i), Flow: "f", Next: at(i), Input: value(strings.Repeat("x", size)),
		}))
	}
	read := 0
	for after := (backend.Schedule{}); ; {
		due, now, next, err := s.DueSchedules(t.Context(), after, records)
		must(t, "DueSchedules", err)
		if len(due) > fit {
			t.Errorf("%d due schedules in a page; want %d", len(due), fit)
		}
		if read += len(due); !next.Equal(now) {
			break
		}
		after = due[len(due)-1]
	}
	for one, err := range backend.EachSchedule(t.Context(), s, backend.ScheduleQuery{}) {
		must(t, "EachSchedule", err)
		if want := fmt.Sprintf("s%02d", read-records); one.ID != want {
			t.Errorf("schedule %q, want %q", one.ID, want)
		}
		read++
	}
	if read != 2*records {
		t.Errorf("read %d schedules, want %d twice", read, records)
	}
}

// testLargeRuns: large inputs, failures and labels end a page of runs or jobs early, and nothing is lost.
func testLargeRuns(t *testing.T, m Maker) {
	s := m.open(t)
	const records, size, fit = 12, storage.PageBytes / 5, 5
	for i := range records {
		one := run(fmt.Sprint("run", i))
		one.Input = storage.Held{Data: value(strings.Repeat("x", size))}
		create(t, s, one)
		must(t, "PostJob", s.PostJob(t.Context(), storage.Job{
			ID: fmt.Sprint("job", i), Run: fmt.Sprint("job", i), Flow: "f", Input: value(strings.Repeat("x", size)),
			Priority: i / 5,
		}))
	}
	look := ask[backend.LookResult](t, "Look")(s.Look(t.Context(), storage.RunQuery{Limit: records}, records))
	runs := ask[[]storage.Run](t, "Runs")(s.Runs(t.Context(), storage.RunQuery{Limit: records}))
	briefly := storage.RunQuery{Limit: records + 1, Brief: true}
	brief := ask[backend.LookResult](t, "Look")(s.Look(t.Context(), briefly, records))
	jobs := ask[[]storage.Job](t, "JobList")(s.JobList(t.Context(), storage.JobQuery{Limit: records}))
	if len(look.Runs) != fit || !look.More || len(runs) != fit || len(jobs) != fit || len(brief.Runs) != records ||
		brief.More {
		t.Errorf("%d, %d runs and %d jobs in a page; want %d; %d brief ones",
			len(look.Runs), len(runs), len(jobs), fit, len(brief.Runs))
	}
	read := map[string]bool{}
	for r, err := range storage.EachRun(t.Context(), s, storage.RunQuery{}) {
		must(t, "EachRun", err)
		read[r.ID] = true
	}
	open := []states.Job{states.JobUnclaimed, states.JobScheduled}
	for j, err := range backend.EachJob(t.Context(), s, storage.JobQuery{States: open}) {
		must(t, "EachJob", err)
		read[j.ID] = true
	}
	if len(read) != 2*records {
		t.Errorf("read %v", read)
	}
}
