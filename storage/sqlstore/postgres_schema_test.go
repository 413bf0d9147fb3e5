package sqlstore_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestServerMigrate creates the tables once, for any number of callers, and only on request.
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

// TestServerMigrateFilled makes a later migration in a database that holds a run.
//
// Guarantee (G7): A migration of PostgreSQL keeps the runs of the database.
func TestServerMigrateFilled(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	s := openServer(t, dsn)
	if err := s.Create(t.Context(), storage.Run{ID: "r", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	later := sqlstore.Later("", "CREATE TABLE later (n BIGINT); INSERT INTO later SELECT count(*) FROM runs;")
	today, err := sqlstore.SchemaOf(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	before, err := sqlstore.MigrateWith(t.Context(), dsn, later)
	if err != nil || before.Version != today.Newest || before.Newest <= today.Newest || len(before.Pending) != 1 {
		t.Fatalf("before: %+v, %v", before, err)
	}
	var runs int64
	if err := postgrestest.Connect(t, dsn).QueryRow(t.Context(), `SELECT n FROM later`).Scan(&runs); err != nil || runs != 1 {
		t.Errorf("the migration saw %d runs, %v", runs, err)
	}
	if _, err := sqlstore.Open(t.Context(), dsn); !errors.Is(err, sqlstore.ErrNewer) {
		t.Errorf("Open of a later schema: %v", err)
	}
}

// TestServerMigrateGivesWay: while a transaction that may only read uses a table that a step alters, others still get at the
// table, and the step is made when the transaction has ended.
//
// Attack (PostgreSQL: roles, settings and clock): A role with `SELECT` holds a transaction open, so that everything
// waits behind `ebb migrate up`.
// Result: A migration step waits 2 s for a lock, gives way, and retries 20 times.
func TestServerMigrateGivesWay(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	later := sqlstore.Later("", "ALTER TABLE runs ADD COLUMN later BIGINT;")
	tables := []string{"origins", "runs", "tokens", "jobs", "limits"} // one of them is altered
	reader := postgrestest.Connect(t, dsn)
	begin := "BEGIN; SET LOCAL search_path = " + postgrestest.Schema(t, dsn)
	for _, table := range tables {
		begin += "; LOCK TABLE " + table + " IN ACCESS SHARE MODE"
	}
	if _, err := reader.Exec(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := sqlstore.MigrateWith(t.Context(), dsn, later)
		done <- err
	}()
	other := postgrestest.Connect(t, dsn)
	for waits := false; !waits; {
		select {
		case err := <-done:
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
	if err := <-done; err != nil {
		t.Error(err)
	}
	if found, err := sqlstore.SchemaOf(t.Context(), dsn); !errors.Is(err, sqlstore.ErrNewer) {
		t.Errorf("it was not migrated: %+v, %v", found, err)
	}
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
	unreleased := migrated(t)
	postgrestest.Exec(t, unreleased, `DELETE FROM migrations; INSERT INTO migrations (version, name, made_by) VALUES (19, 'old', '')`)
	foreign := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, foreign)
	postgrestest.Exec(t, foreign, "CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+".runs (n BIGINT)")
	for _, c := range []struct {
		dsn  string
		err  error
		says string
	}{
		{newer, sqlstore.ErrNewer, "schema 1000, made by ebb v9.9.9"},
		{unreleased, sqlstore.ErrOlder, "has schema 19 of a checkout from before version 0.1"},
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
		changed := a.Changed()
		message := messageTo(claim.Run, n)
		if err := b.Send(t.Context(), message); err != nil {
			t.Fatal(err)
		}
		soon(t, "the message", func() bool {
			<-changed
			changed = a.Changed()
			_, messages, err := a.Messages(t.Context(), "a", 0)
			return err == nil && len(messages) == n+1
		})
	}
}

func messageTo(run string, n int) storage.Message {
	return storage.Message{Run: run, Kind: grow.MessageSignal, Name: strconv.Itoa(n)}
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
