package jobs_test

import (
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// testUnique: of jobs with one Unique, which many post at once, one is open. Who posts another gets its id, until it has
// ended.
func testUnique(t *testing.T, open opener) {
	one, other := open(t, jobs.Policy{})
	at := jobs.Job{Flow: "bill", Unique: "invoice-17"}
	race := func() string {
		t.Helper()
		var all sync.Map
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				ids, err := []*jobs.Board{one, other}[i%2].Post(t.Context(), at, jobs.Job{Flow: "sweep"})
				if err != nil || len(ids) != 2 {
					t.Errorf("%v, %v", ids, err)
					return
				}
				all.Store(ids[0], true)
			})
		}
		wg.Wait()
		var ids []string
		all.Range(func(id, _ any) bool { ids = append(ids, id.(string)); return true })
		if len(ids) != 1 {
			t.Fatalf("open at once: %v", ids)
		}
		return ids[0]
	}
	first := race()
	job := at
	job.ID = "mine"
	if id, isNew, err := other.PostNew(t.Context(), job); id != first || isNew || err != nil {
		t.Errorf("while one is open: %s, %v, %v", id, isNew, err)
	}
	c := claim(t, one, jobs.ClaimQuery{Flows: []string{"bill"}})[0]
	if c.Job.ID != first || c.Job.Unique != "invoice-17" {
		t.Errorf("claimed %+v, want %s", c.Job, first)
	}
	if second := race(); second != first {
		t.Errorf("while it is claimed: %s", second)
	}
	must(t, one.Finish(t.Context(), c))
	if _, isNew, err := other.PostNew(t.Context(), job); !isNew || err != nil {
		t.Errorf("after its end: %v, %v", isNew, err)
	}
	if third := race(); third != "mine" {
		t.Errorf("then open: %s", third)
	}
	want(t, "AddSchedule", one.AddSchedule(t.Context(), jobs.Schedule{ID: "s", Spec: "@daily", Job: at}), storage.ErrInvalid)
}

// TestUniqueTx: a transaction in which a job is not posted, since an open job has its Unique, goes on.
func TestUniqueTx(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, store *sqlstore.Store, driver, dsn string) {
		db, err := sql.Open(driver, dsn)
		must(t, err)
		defer func() { must(t, db.Close()) }()
		board := jobs.New(store, jobs.Policy{})
		post(t, board, jobs.Job{ID: "open", Flow: "bill", Unique: "one"})
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		ids, err := board.PostTx(t.Context(), tx, jobs.Job{ID: "a", Flow: "bill", Unique: "one"},
			jobs.Job{ID: "b", Flow: "bill", Unique: "two"}, jobs.Job{ID: "c", Flow: "bill", Unique: "two"},
			jobs.Job{ID: "d", Flow: "bill"})
		must(t, err)
		inTx, err := board.PostTx(t.Context(), tx, jobs.Job{ID: "e", Flow: "bill", Unique: "two"})
		must(t, err)
		_, err = board.PostTx(t.Context(), tx, jobs.Job{ID: "open", Flow: "other"})
		want(t, "another job with a known id", err, storage.ErrJobDiffers)
		must(t, tx.Commit())
		if got := fmt.Sprintf("%q %q", ids, inTx); got != `["open" "b" "b" "d"] [""]` {
			t.Errorf("posted %s", got)
		}
		var there []string
		for _, c := range claim(t, board, jobs.ClaimQuery{Limit: 10}) {
			there = append(there, c.Job.ID)
		}
		if slices.Sort(there); fmt.Sprint(there) != "[b d open]" {
			t.Errorf("on the board: %v", there)
		}
	})
}
