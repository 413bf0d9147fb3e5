package sqlstore

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
)

// recordListings yields the statements that list and count records, with their arguments.
func recordListings() iter.Seq2[string, []any] {
	return func(yield func(string, []any) bool) {
		count := arguments{"k"}
		if !yield(countRecords, count) {
			return
		}
		after := &storage.NamedRecord{Key: "b", Created: time.Now()}
		for _, q := range []storage.RecordQuery{
			{},
			{Prefix: "a"},
			{After: after},
			{Prefix: "b", After: after},
			{Prefix: "\U0010ffff"},
			{ByTime: true},
			{ByTime: true, After: after},
		} {
			for _, q.Reverse = range []bool{false, true} {
				q.Kind, q.Limit = "k", 10
				if query, args := listRecords(&q); !yield(query, append(args, q.Limit)) {
					return
				}
			}
		}
	}
}

// TestRecordPlans checks SQLite's plan to list records: by an index, in its order.
func TestRecordPlans(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "ebb.db"))
	for query, args := range recordListings() {
		var plan []struct {
			ID, Parent, Notused int
			Detail              string
		}
		if err := s.view(t.Context(), func(r *session) error { return r.Once(t.Context(), &plan, "EXPLAIN QUERY PLAN "+query, args...) }); err != nil {
			t.Fatalf("%v: %s", err, query)
		}
		conditions := strings.Count(query, "key >") + strings.Count(query, "key <") + strings.Count(query, "key) ")
		text := fmt.Sprint(plan)
		if len(plan) != 1 || !strings.Contains(text, "SEARCH records USING") || !strings.Contains(text, "INDEX") ||
			strings.Count(text, "<")+strings.Count(text, ">") < conditions {
			t.Errorf("%s\n%s", query, text)
		}
	}
}

// TestBatchOnRecords creates runs in one batch. Some start on records that have changed. The others are created, in the
// same transaction.
func TestBatchOnRecords(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	records, err := s.WriteRecords(t.Context(), storage.RecordWrite{Kind: "k", Key: "a"}, storage.RecordWrite{Kind: "k", Key: "b"})
	if err != nil {
		t.Fatal(err)
	}
	const n = 30
	transactions := 0
	s.writer.committed = func(err error) error { transactions++; return err }
	release := occupy(t, s)
	errs := make([]error, n)
	var done sync.WaitGroup
	for i := range n {
		run := storage.Run{ID: fmt.Sprint("run", i), Flow: "f"}
		check := storage.RecordCheck{Kind: "k", Key: records[i%2].Key, Revision: records[i%2].Revision + int64(i%3)}
		done.Go(func() {
			if i%5 == 0 {
				errs[i] = s.Create(t.Context(), run, check)
				return
			}
			claim, _, err := backend.ClaimNew(run, check)
			if err != nil {
				t.Error(err)
				return
			}
			errs[i] = s.Commit(t.Context(), claim, nth(0))
		})
	}
	waitQueued(s.writer, n)
	release()
	done.Wait()
	if transactions != 1 {
		t.Errorf("%d transactions", transactions)
	}
	for i, err := range errs {
		if changed := i%3 > 0; changed != errors.Is(err, storage.ErrConflict) || !changed && err != nil {
			t.Errorf("run %d: %v", i, err)
		}
		if _, err := s.Run(t.Context(), fmt.Sprint("run", i)); (err == nil) != (i%3 == 0) {
			t.Errorf("run %d: %v", i, err)
		}
	}
}

// TestServerRecordsInTurn writes a record while a transaction that has checked it is open. A
// run that starts on the record afterwards waits for the write, and does not overtake it.
// Otherwise a write could wait for ever while runs start.
func TestServerRecordsInTurn(t *testing.T) {
	t.Parallel()
	s, dsn := openOnServer(t)
	records, err := s.WriteRecords(t.Context(), storage.RecordWrite{Kind: "k", Key: "a"})
	if err != nil {
		t.Fatal(err)
	}
	admin, starter := postgrestest.Connect(t, dsn), postgrestest.Connect(t, dsn)
	waiting := func(want int) {
		t.Helper()
		for n := -1; n != want; {
			if err := admin.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks
WHERE relation = CAST('record_revisions' AS regclass) AND NOT granted`).Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := starter.Exec(t.Context(), "BEGIN; "+shareRecords); err != nil {
		t.Fatal(err)
	}
	written, created := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := s.WriteRecords(t.Context(), storage.RecordWrite{Kind: "k", Key: "a", Was: records[0].Revision})
		written <- err
	}()
	waiting(1)
	go func() {
		created <- s.Create(t.Context(), storage.Run{ID: "late"}, storage.RecordCheck{Kind: "k", Key: "a", Revision: records[0].Revision})
	}()
	waiting(2)
	if err := s.Create(t.Context(), storage.Run{ID: "other"}); err != nil {
		t.Errorf("a run without conditions waits too: %v", err)
	}
	if _, err := starter.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if err := <-created; !errors.Is(err, storage.ErrConflict) {
		t.Errorf("the run started on the record before its write: %v", err)
	}
}
