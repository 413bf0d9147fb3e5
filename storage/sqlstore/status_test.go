package sqlstore

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestStatus counts the content of a database, and names the oldest waiting run, job or message of each kind.
func TestStatus(t *testing.T) {
	t.Parallel()
	for kind, dsn := range map[string]func(*testing.T) string{
		"file":   func(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "ebb.db") },
		"server": migratedTo,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, err := openStore(t.Context(), dsn(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			old := time.Now().Add(-time.Hour).Truncate(time.Microsecond).UTC()
			begin := func(id string, head backend.Head, out ...storage.Outgoing) {
				t.Helper()
				claim, _, err := backend.ClaimNew(storage.Run{ID: id, Flow: "f"})
				if err == nil {
					head.Started = old
					err = s.Commit(t.Context(), claim, &backend.Checkpoint{Head: head, Outbox: out})
				}
				if err != nil {
					t.Fatal(id, err)
				}
			}
			why := &atom.Failure{Atom: "a", Code: "Bad"}
			ended := func(state states.Flow, undo storage.Undone) backend.Head {
				return backend.Head{
					State: state, Outcome: storage.FailedOutcome, Undo: undo, Failure: why, Ended: old, Release: true,
				}
			}
			begin("ok", backend.Head{State: states.FlowSuccess, Ended: old, Release: true})
			begin("failed", ended(states.FlowFailure, storage.UndoNone))
			begin("stuck", ended(states.FlowFailure, storage.UndoFailed))
			begin("aside", backend.Head{State: states.FlowSuspended, Hold: true, Failure: why, Release: true})
			begin("held", backend.Head{State: states.FlowSuspended, Hold: true, Release: true},
				storage.Outgoing{ID: "m", Target: "x", Body: atom.MustEncode(1), Parked: true, Error: "no"})
			begin("driven", backend.Head{State: states.FlowRunning})
			for id, due := range map[string]time.Time{
				"soon": time.Now(), "late": old, "later": old.Add(time.Minute), "future": time.Now().Add(time.Hour),
			} {
				if err := s.Create(t.Context(), storage.Run{ID: id, Flow: "f", Due: due}); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.SetLimit(t.Context(), storage.Limit{Flow: "g", Label: "c", Runs: 1}); err != nil {
				t.Fatal(err)
			}
			limited := map[string]string{"c": "1"}
			claim, _, err := backend.ClaimNew(storage.Run{ID: "in place", Flow: "g", Labels: limited})
			if err == nil {
				err = s.Commit(t.Context(), claim, &backend.Checkpoint{Head: backend.Head{State: states.FlowRunning, Started: old}})
			}
			if err == nil {
				err = s.Create(t.Context(), storage.Run{ID: "waits", Flow: "g", Labels: limited, Due: old})
			}
			if err == nil {
				err = s.PutSchedule(t.Context(), backend.Schedule{ID: "nightly", Spec: "@daily", Flow: "f", CatchUp: 1, Next: old})
			}
			if err != nil {
				t.Fatal(err)
			}
			for id, created := range map[string]time.Time{"old job": old, "new job": time.Now()} {
				if err := s.PostJob(t.Context(), storage.Job{ID: id, Flow: "f", Created: created}); err != nil {
					t.Fatal(err)
				}
			}
			begin("orphan", backend.Head{State: states.FlowRunning})
			exec(t, s, fmt.Sprintf(`UPDATE runs SET owner = 'gone', updated = %d
				WHERE n = (SELECT n FROM origins WHERE id = 'orphan')`, old.Add(time.Second).UnixMicro()))
			got, err := s.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := &Status{
				Runs: map[states.Flow]int{
					states.FlowSuccess: 1, states.FlowFailure: 2, states.FlowSuspended: 2, states.FlowRunning: 3, states.FlowPending: 5,
				},
				Driven:     2,
				Undriven:   Found{3, "late", "f", old}, // also "orphan"
				Limited:    Found{1, "waits", "g", old},
				NeedPerson: Found{Count: 2, ID: "stuck", Flow: "f"},
				Parked:     Found{Count: 1, ID: "held"},
				Late:       Found{1, "nightly", "f", old},
				Limits:     []LimitUse{{storage.Limit{Flow: "g", Label: "c", Runs: 1}, 1}},
				Processes:  1,
				Jobs:       []backend.JobCount{{State: states.JobUnclaimed, Jobs: 2, Since: old}},
				Unclaimed:  Found{1, "old job", "f", old},
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Status{}, "At")); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStatusReadsIndexes: on a file, each query of the status reads an index and no more rows than it counts.
// [TestPlans] checks a server.
func TestStatusReadsIndexes(t *testing.T) {
	t.Parallel()
	s, err := openStore(t.Context(), filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, query := range []string{
		countRuns, countOwned, someOwned, countDue, countLimited, countPerson, countParked, countLate,
		oldestDue, oldestLimited, oldestPerson, oldestParked, oldestLate,
		countUnclaimed, countParkedJobs, firstUnclaimed, firstParkedJob,
	} {
		var plan []struct {
			ID, Parent, Notused int
			Detail              string
		}
		err := s.view(t.Context(), func(r *session) error {
			args := []any{1, 1}[:min(strings.Count(query, "$1"), 1)+strings.Count(query, "$2")]
			return r.Once(t.Context(), &plan, "EXPLAIN QUERY PLAN "+query, args...)
		})
		if err != nil {
			t.Fatalf("%v: %s", err, query)
		}
		text := fmt.Sprint(plan)
		reads := strings.Contains(text, "SCAN runs") || strings.Contains(text, "SCAN outbox") || strings.Contains(text, "SCAN schedules") ||
			strings.Contains(text, "SCAN jobs")
		if reads && !strings.Contains(text, "INDEX") || len(plan) == 0 {
			t.Errorf("a table is read from end to end: %s\n%s", query, text)
		}
	}
}

// BenchmarkStatus asks a file with many runs.
func BenchmarkStatus(b *testing.B) {
	s, err := openStore(b.Context(), filepath.Join(b.TempDir(), "ebb.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	const runs = 1_000_000
	fill := `WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < $1)
INSERT INTO runs (n, updated, state, ended, due, memory)
SELECT n, 0, CASE WHEN n % 10 = 0 THEN 1 ELSE 2 END, CASE WHEN n % 10 = 0 THEN NULL ELSE n END, CASE WHEN n % 10 = 0 THEN n END, zeroblob(300) FROM r`
	err = s.update(b.Context(), &write{alone: true, do: func(ctx context.Context, w *session) error {
		if _, err := w.Exec(ctx, fill, runs); err != nil {
			return err
		}
		_, err := w.Exec(ctx, `INSERT INTO origins (n, id, flow, definition, structure, created, parent, trace, input_ref)
SELECT n, 0 + n, 'f', '', '', 0, '', '', 0 FROM runs`)
		return err
	}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Status(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// exec makes a change of the schema.
func exec(t *testing.T, s *store, statement string) {
	t.Helper()
	var err error
	if s.dialect.locks {
		_, err = s.readers.db.ExecContext(t.Context(), statement)
	} else {
		err = s.update(t.Context(), &write{alone: true, do: func(ctx context.Context, w *session) error {
			_, err := w.Exec(ctx, statement)
			return err
		}})
	}
	if err != nil {
		t.Fatalf("%v: %s", err, statement)
	}
}
