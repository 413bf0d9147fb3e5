package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testListings lists runs and jobs page by page. A page continues after the place of the last record of the page
// before, also if that record has changed or was purged meanwhile.
//
// Guarantee (G9): memory of listings (`list`, `jobs`, `prune`, `Engine.Detached`): a few pages.
// Also: `TestPlans`, `cmd/ebb/internal/retention: TestPrunePages`, `engine: TestDetachedTree`.
func testListings(t *testing.T, m Maker) {
	t.Run("runs", func(t *testing.T) { listRuns(t, m.open(t)) })
	t.Run("due runs", func(t *testing.T) { listDueRuns(t, m.open(t)) })
	t.Run("jobs", func(t *testing.T) { listJobs(t, m.open(t)) })
	t.Run("many", func(t *testing.T) { listMany(t, m.open(t)) })
}

func listRuns(t *testing.T, s backend.Store) {
	t.Helper()
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		create(t, s, run(id))
		begin(t, s, id).finish(t, states.FlowSuccess)
	}
	page := ask[[]storage.Run](t, "Runs")(s.Runs(t.Context(), storage.RunQuery{Limit: 2}))
	if page[0].ID != "e" || page[1].ID != "d" || page[0].Number <= page[1].Number || page[1].Number <= 0 {
		t.Errorf("the first page is %s %d, %s %d", page[0].ID, page[0].Number, page[1].ID, page[1].Number)
	}
	if n := ask[int](t, "Purge")(s.Purge(t.Context(), "e", "d", "b")); n != 3 {
		t.Fatalf("purged %d runs", n)
	}
	create(t, s, run("f"))
	if c, f := load(t, s, "c"), load(t, s, "f"); f.Number <= c.Number {
		t.Errorf("the number of a later run is %d, after %d", f.Number, c.Number)
	}
	if got := ids(t, s, storage.RunQuery{After: &page[1]}); got != "ca" {
		t.Errorf("after a run that was purged: %q", got)
	}
	if got := ids(t, s, storage.RunQuery{After: &page[1], Limit: 1}); got != "c" {
		t.Errorf("a page of one: %q", got)
	}
}

func listDueRuns(t *testing.T, s backend.Store) {
	t.Helper()
	for i, id := range []string{"a", "b", "c", "d"} {
		r := run(id)
		r.Due = at(i / 2)
		create(t, s, r)
	}
	q := storage.RunQuery{Due: at(9), Limit: 1}
	page := ask[[]storage.Run](t, "Runs")(s.Runs(t.Context(), q))
	begin(t, s, "a").finish(t, states.FlowSuccess)
	q.After, q.Limit = &page[0], 0
	if got := page[0].ID + ids(t, s, q); got != "abcd" {
		t.Errorf("due runs, after one that has ended: %q", got)
	}
}

func listJobs(t *testing.T, s backend.Store) {
	t.Helper()
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		post(t, s, storage.Job{ID: id, Flow: "trip", Created: at(i), Priority: map[string]int{"d": 7, "b": -7}[id]})
	}
	list := func(q storage.JobQuery) string {
		t.Helper()
		return joined(ask[[]storage.Job](t, "JobList")(s.JobList(t.Context(), q)), jobID)
	}
	board := storage.JobQuery{States: []states.Job{states.JobUnclaimed, states.JobClaimed}, Limit: 2}
	page := ask[[]storage.Job](t, "JobList")(s.JobList(t.Context(), board))
	all := ask[[]storage.Job](t, "JobList")(s.JobList(t.Context(), storage.JobQuery{Limit: 1}))
	if got := joined(page, jobID) + joined(all, jobID); got != "daa" || page[0].Number <= page[1].Number {
		t.Errorf("the first pages are %q", got)
	}
	end := backend.JobEnd{Job: "a", State: states.JobComplete}
	must(t, "EndJob", s.EndJob(t.Context(), end))
	if n := ask[int](t,
		"PurgeJobs")(s.PurgeJobs(t.Context(), backend.JobPurge{Before: time.Now().Add(time.Hour)})); n != 1 {
		t.Fatalf("purged %d jobs", n)
	}
	board.After, board.Limit = &page[1], 0
	if got := list(board); got != "ceb" {
		t.Errorf("the board after a job that was purged: %q", got)
	}
	if got := list(storage.JobQuery{After: &all[0]}); got != "bcde" {
		t.Errorf("all after a job that was purged: %q", got)
	}
}

// listMany purges listed runs while the listing continues, over several pages.
func listMany(t *testing.T, s backend.Store) {
	t.Helper()
	const n = storage.PageRuns + 20
	ended := backend.JobEnd{State: states.JobComplete}
	for i := range n {
		id := fmt.Sprint("r", i)
		create(t, s, run(id))
		begin(t, s, id).finish(t, states.FlowSuccess)
		post(t, s, storage.Job{ID: id, Flow: "trip", Created: at(0)})
		ended.Job = id
		must(t, "EndJob", s.EndJob(t.Context(), ended))
	}
	listed := 0
	for r, err := range storage.EachRun(t.Context(), s, storage.RunQuery{}) {
		must(t, "EachRun", err)
		if listed++; r.ID != fmt.Sprint("r", n-listed) {
			t.Fatalf("run %d of the listing is %s", listed, r.ID)
		}
		if listed == storage.PageRuns {
			if gone := ask[int](t, "Purge")(s.Purge(t.Context(), r.ID, "r5")); gone != 2 {
				t.Fatalf("purged %d runs", gone)
			}
			if n-listed <= 5 {
				t.Fatal("too few are left")
			}
		}
		if listed == n-6 {
			listed++ // r5 is gone
		}
	}
	if listed != n {
		t.Errorf("listed %d runs", listed)
	}
	listed = 0
	for j, err := range backend.EachJob(t.Context(), s, storage.JobQuery{Limit: n - 1}) {
		must(t, "EachJob", err)
		if j.ID != fmt.Sprint("r", listed) {
			t.Fatalf("job %d of the listing is %s", listed, j.ID)
		}
		listed++
	}
	if listed != n-1 {
		t.Errorf("listed %d jobs", listed)
	}
}
