package sqlstore_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestServerMigrate makes the tables once, however many want to, and only when
// asked to.
func TestServerMigrate(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(t)
	for _, opts := range [][]sqlstore.Option{nil, {sqlstore.ReadOnly()}} {
		if _, err := sqlstore.Open(t.Context(), dsn, opts...); !errors.Is(err, sqlstore.ErrNoTables) || !strings.Contains(err.Error(), "ebb migrate up") {
			t.Errorf("Open without tables: %v", err)
		}
	}
	before, err := sqlstore.SchemaOf(t.Context(), dsn)
	if err != nil || before.Version != 0 || len(before.Pending) == 0 {
		t.Fatalf("schema %+v, %v", before, err)
	}
	var many sync.WaitGroup
	for range 4 {
		many.Go(func() {
			if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
				t.Error(err)
			}
		})
	}
	many.Wait()
	after, err := sqlstore.SchemaOf(t.Context(), dsn)
	if err != nil || after.Version != after.Newest || len(after.Pending) != 0 {
		t.Errorf("schema %+v, %v", after, err)
	}
	s := openServer(t, dsn)
	shut(t, s)
}

// TestServerMigrateFilled brings a database of schema 6 with work and jobs in it to the
// newest: the work is taken, which has no limits, and the jobs are counted.
func TestServerMigrateFilled(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(t)
	before, err := sqlstore.SchemaOf(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range before.Pending {
		if m.Version <= 6 {
			postgrestest.Exec(t, dsn, "BEGIN; "+m.SQL+"COMMIT;")
		}
	}
	if _, err := sqlstore.Open(t.Context(), dsn); !errors.Is(err, sqlstore.ErrOlder) {
		t.Errorf("Open of schema 6: %v", err)
	}
	postgrestest.Exec(t, dsn, "BEGIN; SET LOCAL search_path = "+postgrestest.Schema(t, dsn)+`;
INSERT INTO origins (n, created, input_ref, id, flow, definition, structure, parent, trace) VALUES (7, 1, 0, 'r', 'f', '', '', '', '');
INSERT INTO runs (n, updated, state, started) VALUES (7, 1, 1, 1);
INSERT INTO tokens (run, incarnation, attempt, heartbeat, beat, state, id, path, worker, queue, work) VALUES (7, 0, 1, 0, 5, 0, 't', 'a', '', 'q', '\x00');
INSERT INTO jobs (version, priority, created, state, id, run, flow) SELECT 0, 0, 1, i % 3, 'j' || i, '', 'f' FROM generate_series(0, 29) AS i;
COMMIT;`)
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	s := openServer(t, dsn)
	defer shut(t, s)
	found, err := s.Token(t.Context(), "t")
	if limit, _ := found.Due(); err != nil || limit != storage.NoLimit || !found.Since.IsZero() {
		t.Errorf("the token is %+v (%v)", found, err)
	}
	taken, err := s.TakeToken(t.Context(), storage.Taking{Queues: []string{"q"}, Worker: "w", Lease: time.Minute})
	if err != nil || taken.ID != "t" || taken.Since.IsZero() {
		t.Errorf("taken %+v (%v)", taken, err)
	}
	counts, err := s.JobCounts(t.Context())
	if err != nil || len(counts) != 2 || counts[0].Jobs != 10 || counts[1].Jobs != 10 {
		t.Errorf("there are %+v (%v)", counts, err)
	}
}

// TestServerMigrateGivesWay: while a transaction that may only read uses a table that a step alters, others still get at the
// table, and the step is made when the transaction has ended.
func TestServerMigrateGivesWay(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(t)
	before, err := sqlstore.SchemaOf(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range before.Pending {
		if m.Version <= 6 {
			postgrestest.Exec(t, dsn, "BEGIN; "+m.SQL+"COMMIT;")
		}
	}
	tables := []string{"origins", "runs", "tokens", "jobs", "limits"} // one of them is altered
	reader := postgrestest.Connect(t, dsn)
	begin := "BEGIN; SET LOCAL search_path = " + postgrestest.Schema(t, dsn)
	for _, table := range tables {
		begin += "; LOCK TABLE " + table + " IN ACCESS SHARE MODE"
	}
	if _, err := reader.Exec(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	migrated := make(chan error, 1)
	go func() {
		_, err := sqlstore.Migrate(t.Context(), dsn)
		migrated <- err
	}()
	other := postgrestest.Connect(t, dsn)
	for waits := false; !waits; {
		select {
		case err := <-migrated:
			t.Fatalf("it was migrated under a reader: %v", err)
		default:
		}
		const query = `SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT l.granted)`
		if err := other.QueryRow(t.Context(), query, postgrestest.Schema(t, dsn)).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range tables {
		if _, err := other.Exec(t.Context(), "SET lock_timeout = '30s'; SET search_path = "+postgrestest.Schema(t, dsn)+"; SELECT FROM "+table); err != nil {
			t.Errorf("%s cannot be read: %v", table, err)
		}
	}
	if _, err := reader.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
	shut(t, openServer(t, dsn))
}

// TestServerMigratePrinted makes the tables by the text that is printed.
func TestServerMigratePrinted(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.DSN(t)
	before, err := sqlstore.SchemaOf(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	postgrestest.Exec(t, dsn, before.Script())
	after, err := sqlstore.SchemaOf(t.Context(), dsn)
	if err != nil || after.Version != before.Newest {
		t.Errorf("schema %+v, %v", after, err)
	}
	shut(t, openServer(t, dsn))
}

// TestServerRefused opens what must not be written: the error says what to use, and
// nothing is changed.
func TestServerRefused(t *testing.T) {
	t.Parallel()
	newer := migrated(t)
	postgrestest.Exec(t, newer, `INSERT INTO migrations (version, name, made_by) VALUES (1000, 'to come', 'v9.9.9')`)
	foreign := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, foreign)
	postgrestest.Exec(t, foreign, "CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+".runs (n BIGINT)")
	for _, c := range []struct {
		dsn  string
		err  error
		says string
	}{
		{newer, sqlstore.ErrNewer, "schema 1000, made by ebb v9.9.9"},
		{foreign, sqlstore.ErrForeign, "schema=NAME"},
	} {
		_, opened := sqlstore.Open(t.Context(), c.dsn)
		_, looked := sqlstore.SchemaOf(t.Context(), c.dsn)
		_, made := sqlstore.Migrate(t.Context(), c.dsn)
		for _, err := range []error{opened, looked, made} {
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.err, c.says)
			}
		}
	}
}

// TestServerReadOnly looks at a database without leaving a trace in it.
func TestServerReadOnly(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := openServer(t, dsn)
	defer shut(t, s)
	owned(t, s, "a")
	r := openServer(t, dsn, sqlstore.ReadOnly())
	defer shut(t, r)
	if run, err := r.Run(t.Context(), "a"); err != nil || run.Owner != s.Owner().ID {
		t.Errorf("%+v, %v", run, err)
	}
	if owners, err := r.Owners(t.Context()); err != nil || len(owners) != 1 || !owners[0].Alive {
		t.Errorf("owners %+v, %v", owners, err)
	}
	if _, _, err := r.Begin(t.Context(), "a"); !errors.Is(err, sqlstore.ErrReadOnly) {
		t.Errorf("Begin: %v", err)
	}
	if err := sqlstore.Backup(t.Context(), dsn, t.TempDir()+"/copy.db"); err == nil || !strings.Contains(err.Error(), "pg_dump") {
		t.Errorf("Backup: %v", err)
	}
}

// TestServerNotified has one store hear of what another does.
func TestServerNotified(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	a, b := openServer(t, dsn), openServer(t, dsn)
	defer shut(t, a)
	defer shut(t, b)
	claim := owned(t, a, "a")
	for n := range 20 {
		rung := a.Rung()
		letter := letterTo(claim.Run, n)
		if err := b.Send(t.Context(), letter); err != nil {
			t.Fatal(err)
		}
		soon(t, "the letter", func() bool {
			<-rung
			rung = a.Rung()
			_, letters, err := a.Bell(t.Context(), "a")
			return err == nil && len(letters) == n+1
		})
	}
}

func letterTo(run string, n int) storage.Letter {
	return storage.Letter{Run: run, Kind: storage.LetterSignal, Name: strconv.Itoa(n)}
}

// TestServerLease reads the lease that a DSN gives.
func TestServerLease(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	shut(t, openServer(t, dsn+"&lease=7s"))
	for _, lease := range []string{"7", "1ms", "-5s", "long"} {
		if _, err := sqlstore.Open(t.Context(), dsn+"&lease="+lease); err == nil || !strings.Contains(err.Error(), "such as 10s") {
			t.Errorf("lease=%s: %v", lease, err)
		}
	}
}
