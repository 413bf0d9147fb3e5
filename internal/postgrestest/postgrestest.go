// Package postgrestest finds a PostgreSQL server for tests, and gives each test its own tables.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DSN returns a DSN that names a schema for this test alone. The schema does not exist yet. It is dropped when the test
// ends. DSN looks for a server in EBB_TEST_POSTGRES, then on this machine. Without one, the test is skipped.
//
// Commits of a test do not wait for the server's disk, because only the processes of tests die, not the server. Commits
// of a benchmark wait, as those of users do.
func DSN(tb testing.TB) string {
	tb.Helper()
	server := find()
	if server == "" {
		tb.Skip("needs postgres: set EBB_TEST_POSTGRES to a DSN, or start a server on this machine")
	}
	admit(server)
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatalf("EBB_TEST_POSTGRES is no URL: %v", err)
	}
	schema := "ebb_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	q := u.Query()
	q.Set("application_name", schema)
	if _, measured := tb.(*testing.B); !measured {
		q.Set("synchronous_commit", "off")
	}
	u.RawQuery = q.Encode()
	tb.Cleanup(func() { Exec(tb, u.String(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE") })
	q.Set("schema", schema)
	q.Set("search_path", schema) // of users' statements
	u.RawQuery = q.Encode()
	return u.String()
}

// Server returns a DSN like [DSN] but without a schema, for tests that create schemas.
func Server(tb testing.TB) string {
	tb.Helper()
	u, err := url.Parse(DSN(tb))
	if err != nil {
		tb.Fatal(err)
	}
	q := u.Query()
	q.Del("schema")
	q.Del("search_path")
	u.RawQuery = q.Encode()
	return u.String()
}

// Database returns a database for one test, which is dropped when the test ends.
func Database(tb testing.TB) string {
	tb.Helper()
	server := DSN(tb)
	name := Schema(tb, server)
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatal(err)
	}
	Exec(tb, server, "CREATE DATABASE "+name)
	tb.Cleanup(func() { Exec(tb, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	u.Path = "/" + name
	return u.String()
}

// SetClock sets the clock of a database ahead: all sessions of the database see a later
// time. The database must belong to the test. A second call steps the clock, also for
// statements that were prepared after the first call. If the test's user may not set
// the clock, the test is skipped.
func SetClock(tb testing.TB, dsn string, ahead time.Duration) {
	tb.Helper()
	ctx, conn := context.Background(), Connect(tb, dsn)
	var super bool
	if err := conn.QueryRow(ctx, "SELECT current_setting('is_superuser') = 'on'").Scan(&super); err != nil {
		tb.Fatal(err)
	}
	if !super {
		tb.Skip("needs a superuser, who may set a database's clock: name one in EBB_TEST_POSTGRES")
	}
	_, err := conn.Exec(ctx, fmt.Sprintf(`DO $do$ BEGIN IF to_regclass('public.clock_step') IS NULL THEN
CREATE TABLE public.clock_step AS SELECT interval '0' AS step;
ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO true_clock;
CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$ SELECT pg_catalog.true_clock() + (SELECT step FROM public.clock_step) $$;
END IF; END $do$;
UPDATE public.clock_step SET step = interval '%d microseconds'`, ahead.Microseconds()))
	if err != nil {
		tb.Fatal(err)
	}
}

// Schema returns the schema that a DSN names.
func Schema(tb testing.TB, dsn string) string {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	return u.Query().Get("schema")
}

// Connect opens a connection for the test and closes it when the test ends. Statements find the tables of the DSN's
// schema.
func Connect(tb testing.TB, dsn string) *pgx.Conn {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	q := u.Query()
	if schema := q.Get("schema"); schema != "" {
		q.Set("search_path", schema)
		q.Set("application_name", "test")
		q.Del("schema")
		u.RawQuery = q.Encode()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, u.String())
	for refused, is := errors.AsType[*pgconn.PgError](err); is && refused.Code == "53300" && ctx.Err() == nil; {
		time.Sleep(100 * time.Millisecond) // other packages that are tested have all connections
		conn, err = pgx.Connect(ctx, u.String())
		refused, is = errors.AsType[*pgconn.PgError](err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close(context.Background()) }) // the test may have closed it
	return conn
}

// Exec runs the statements in a text.
func Exec(tb testing.TB, dsn, text string, args ...any) {
	tb.Helper()
	conn := Connect(tb, dsn)
	if _, err := conn.Exec(context.Background(), text, args...); err != nil {
		tb.Errorf("%s: %v", text, err)
	}
	_ = conn.Close(context.Background()) // everything was committed
}

// admit waits until half of the server's connections are free: packages that are tested at once share them. It does
// not wait for longer than a minute, since the test may have connections of its own.
func admit(server string) {
	const admitting = `SELECT count(*) < current_setting('max_connections')::int / 2 FROM pg_stat_activity`
	for began, free := time.Now(), false; !free && time.Since(began) < time.Minute; {
		conn, err := pgx.Connect(context.Background(), server)
		if err == nil {
			err = conn.QueryRow(context.Background(), admitting).Scan(&free)
			_ = conn.Close(context.Background()) // nothing was written
		}
		if err != nil || !free {
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// find returns the DSN of a server, or "".
func find() string {
	if dsn := os.Getenv("EBB_TEST_POSTGRES"); dsn != "" {
		return dsn
	}
	for _, server := range []struct{ network, at, dsn string }{
		{"unix", "/var/run/postgresql/.s.PGSQL.5432", "postgres:///postgres?host=/var/run/postgresql"},
		{"tcp", "127.0.0.1:5432", "postgres://127.0.0.1:5432/postgres"},
	} {
		dialer := net.Dialer{Timeout: time.Second}
		if conn, err := dialer.DialContext(context.Background(), server.network, server.at); err == nil {
			_ = conn.Close()
			return server.dsn
		}
	}
	return ""
}
