package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/arrays"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
)

// migratedTo returns a schema for the test, of which the server has no statistics.
func migratedTo(t *testing.T) (dsn string) {
	t.Helper()
	dsn = postgrestest.DSN(t)
	if _, err := Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// TestPlans checks how a server without statistics would run Ebb's frequent queries: it reads each table by an index,
// in its order, and by a condition.
func TestPlans(t *testing.T) {
	t.Parallel()
	server, err := postgres.Parse(migratedTo(t))
	if err != nil {
		t.Fatal(err)
	}
	server.Open(maxConnections, arrays.Register)
	defer func() { _ = server.DB.Close() }()
	conn, err := server.DB.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	asked := map[string]bool{}
	for query, f := range forms {
		asked[query] = true
		if f.Sure != "" {
			asked[f.Sure] = true
		}
	}
	for _, query := range []string{
		lockRun, lockRuns, lockFreeRuns, lockFreeNumbers, selectNewest, selectRun, selectWakeups, takeRun, releaseRun,
		selectDue[onPostgres], selectDueIn[onPostgres], selectNextDue, selectDriven, selectSoon[onPostgres], selectBuckets,
		serverChanged, wakeRun, insertMessage[onPostgres], selectMessages, deleteMessage[onPostgres],
		jobsDue[onPostgres], jobsAbandoned[onPostgres], anyFree[onPostgres], claimFirst[onPostgres], selectClaimed,
		selectExpired, freeRuns, freeJobs, selectLabeled[onPostgres], selectRunning[onPostgres], selectQueued[onPostgres], countBorn,
		selectBorn, forgetFamily, selectLine, selectLine,
		countOwned, someOwned, countDue, countLimited, countPerson, countParked, countLate,
		selectEvents, selectEventsBack, selectLabelsOf[onPostgres],
		oldestDue, oldestLimited, oldestPerson, oldestParked, oldestLate,
		countUnclaimed, countParkedJobs, firstUnclaimed, firstParkedJob,
		selectDefinition, listSchedules, insertDefinition, selectClaimable[onPostgres], selectClaimableElse[onPostgres],
		selectRecord, selectRevision, selectWritten, deleteRecord,
		selectRecent, selectRunTimers, selectAtoms, selectLiveAtoms, selectAtom, selectUndos, selectToken, queuedToken[onPostgres],
		countQueued[onPostgres], takeToken[onPostgres], takeQueued, keepToken, endToken[onPostgres], useToken, giveUpToken, beatToken, upsertToken[onPostgres],
		upsertTimer[onPostgres], deleteTimer[onPostgres], selectHistory, selectOpen, selectHolder, selectKey,
		insertKey, countKey, selectNumber, selectLabels, selectPayload, popUndo, deleteOpenKey, deleteOutgoing,
		updateOutgoing, lastArrival, deleteLive[onPostgres], deleteSettled[onPostgres],
	} {
		asked[query] = true
	}
	for query := range recordListings() {
		asked[query] = true
	}
	board := []states.Job{states.JobUnclaimed, states.JobParked}
	for _, q := range []storage.JobQuery{{After: &storage.Job{}}, {States: board}, {States: board, After: &storage.Job{}}} {
		for _, in := range stretchesAfter(&q) {
			query, _ := listJobs(&q, in, storage.PageRuns)
			asked[query] = true
		}
	}
	for _, query := range slices.Sorted(maps.Keys(asked)) {
		plan := explained(t, conn, query)
		for i, line := range plan {
			if wrong := wrongWith(line, plan[i+1:]); wrong != "" {
				t.Errorf("%s:\n%s\n%s", wrong, query, strings.Join(plan, "\n"))
			}
		}
	}
}

// wrongWith returns the fault in a step of a plan, or "". Limits and owners are few, and partial indexes may be read
// without a condition.
func wrongWith(step string, inside []string) string {
	_, index, by := strings.Cut(step, " using ")
	index, _, _ = strings.Cut(index, " ")
	switch {
	case strings.Contains(step, "Seq Scan on limits"), strings.Contains(step, "Seq Scan on owners"):
		return ""
	case strings.Contains(step, "Seq Scan"), strings.Contains(step, "Bitmap"):
		return "a table is read as it lies"
	case strings.Contains(step, "Sort  (") && !strings.Contains(step, "Incremental"):
		return "all is sorted"
	case by && !ofSomeRows()[index] && (len(inside) == 0 || !strings.Contains(inside[0], "Index Cond")):
		return "a table is read from end to end, by " + index
	}
	return ""
}

// ofSomeRows returns the names of the indices that hold some rows of a table only.
var ofSomeRows = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	files, _ := filepath.Glob("internal/schema/migrations/postgres/*.sql")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, m := range regexp.MustCompile(`CREATE INDEX (\w+)[^;]*\sWHERE `).FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
	}
	return names
})

// explained returns how the server runs a statement, for any arguments.
func explained(t *testing.T, conn *sqlx.Conn, text string) (plan []string) {
	t.Helper()
	ctx := t.Context()
	if _, err := conn.ExecContext(ctx, "SET plan_cache_mode = force_generic_plan; PREPARE explained AS "+text); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	args := 0
	if err := conn.GetContext(ctx, &args, "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'explained'"); err != nil {
		t.Fatal(err)
	}
	nulls := ""
	if args > 0 {
		nulls = "(NULL" + strings.Repeat(", NULL", args-1) + ")"
	}
	if err := conn.SelectContext(ctx, &plan, "EXPLAIN EXECUTE explained"+nulls); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(ctx, "DEALLOCATE explained"); err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestUsersPlanning plans a user's own statements by the server's settings, or those of the
// DSN, and Ebb's before and after them by its own. Only Ebb's have one plan for all arguments.
func TestUsersPlanning(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]struct{ ebb, users string }{
		"":                                  {"off", "on"},
		"&enable_seqscan=on":                {"on", "on"},
		"&enable_seqscan=off":               {"off", "off"},
		"&options=-c%20enable_seqscan%3Don": {"on", "on"},
	} {
		s, err := openStore(t.Context(), migratedTo(t)+given)
		if err != nil {
			t.Fatal(err)
		}
		run := storage.Run{ID: "r", Flow: "f", Due: time.Now()}
		if err := s.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		claim, _, err := s.Begin(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		const ask, plans = "SHOW enable_seqscan", "SHOW plan_cache_mode"
		var users, usersPlans, ebbPlans string
		if _, err := s.Transact(t.Context(), claim, "k", func(tx *sql.Tx) (atom.Value, error) {
			return nil, errors.Join(tx.QueryRowContext(t.Context(), ask).Scan(&users),
				tx.QueryRowContext(t.Context(), plans).Scan(&usersPlans))
		}); err != nil {
			t.Fatal(err)
		}
		err = s.glance(t.Context(), func(r *session) error { return r.Get(t.Context(), &ebbPlans, plans) })
		if err != nil || usersPlans != "auto" || ebbPlans != "force_generic_plan" {
			t.Errorf("%q: plans are cached in mode %s for users, %s for Ebb: %v", given, usersPlans, ebbPlans, err)
		}
		if users != want.users {
			t.Errorf("%q: a user's statements are planned with enable_seqscan %s; want %s", given, users, want.users)
		}
		for range singleSessions { // each of them, or the same
			var ebb string
			if err := s.update(t.Context(), &write{alone: true, do: func(ctx context.Context, w *session) error { return w.Get(ctx, &ebb, ask) }}); err != nil {
				t.Fatal(err)
			}
			if ebb != want.ebb {
				t.Errorf("%q: Ebb's statements are planned with enable_seqscan %s; want %s", given, ebb, want.ebb)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
