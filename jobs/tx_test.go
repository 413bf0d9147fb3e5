package jobs_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// eachDatabase calls f with a store in each kind of database, and with a function that opens the database for a user.
func eachDatabase(t *testing.T, f func(t *testing.T, store *sqlstore.Store, driver, dsn string)) {
	t.Helper()
	open := func(t *testing.T, dsn, driver, own string) {
		t.Helper()
		store, err := sqlstore.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(t, store, driver, own)
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "runs.db")
		open(t, file, "sqlite", "file:"+file+"?_txlock=immediate&_pragma=busy_timeout(60000)")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		own, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		params := own.Query()
		params.Del("schema") // known only to Ebb, which finds its tables without it
		params.Del("search_path")
		own.RawQuery = params.Encode()
		open(t, dsn, "pgx", own.String())
	})
}

// TestPostTx: a job is posted together with the other writes of the user's transaction, or not at all.
//
// Guarantee (Jobs): A job posted in a user's transaction exists if and only if that commits.
func TestPostTx(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, store *sqlstore.Store, driver, dsn string) {
		db, err := sql.Open(driver, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}()
		db.SetMaxOpenConns(1) // the user's own table
		if _, err := db.ExecContext(t.Context(), "CREATE TEMP TABLE orders (n INTEGER PRIMARY KEY)"); err != nil {
			t.Fatal(err)
		}
		board := jobs.New(store, jobs.Policy{})
		order := func(n int, end func(*sql.Tx) error) {
			t.Helper()
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, posted := board.PostTx(t.Context(), tx, jobs.Job{ID: "j", Flow: "ship", Input: n, RunLabels: map[string]string{"k": "v"}})
			_, again := board.PostTx(t.Context(), tx, jobs.Job{ID: "j", Flow: "another"})
			_, wrote := tx.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO orders VALUES (%d)", n))
			if err := errors.Join(wrote, posted, again, end(tx)); err != nil {
				t.Fatal(err)
			}
		}
		order(1, (*sql.Tx).Rollback)
		if _, err := board.Job(t.Context(), "j"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("rolled back, the job is there: %v", err)
		}
		order(2, (*sql.Tx).Commit)
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT n FROM orders").Scan(&n); err != nil || n != 2 {
			t.Errorf("order %d (%v)", n, err)
		}
		claims, err := board.Claim(t.Context(), jobs.ClaimQuery{Flows: []string{"ship"}, Limit: 5})
		if err != nil || len(claims) != 1 || claims[0].Job.ID != "j" || claims[0].Job.RunLabels["k"] != "v" {
			t.Errorf("claimed %+v (%v)", claims, err)
		}
	})
	if _, err := inMemoryBoard().PostTx(t.Context(), nil, jobs.Job{Flow: "f"}); !errors.Is(err, jobs.ErrNoTx) {
		t.Errorf("in memory: %v", err)
	}
}

func inMemoryBoard() *jobs.Board { return jobs.New(memstore.New(), jobs.Policy{}) }

// TestPostPgx: a transaction of pgx posts as one of database/sql does.
func TestPostPgx(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, store *sqlstore.Store, driver, dsn string) {
		if driver != "pgx" {
			return
		}
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := conn.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		board := jobs.New(store, jobs.Policy{})
		for n, end := range []func(pgx.Tx) error{
			func(tx pgx.Tx) error { return sqlstore.Pgx(tx).Rollback() },
			func(tx pgx.Tx) error { return tx.Commit(t.Context()) },
		} {
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			job := jobs.Job{ID: "j", Flow: "ship", Input: n, RunLabels: map[string]string{"k": "v"}}
			for i := range 2 {
				if _, isNew, err := board.PostNewTx(t.Context(), sqlstore.Pgx(tx), job); err != nil || isNew != (i == 0) {
					t.Errorf("post %d: new %t, %v", i, isNew, err)
				}
			}
			if err := end(tx); err != nil {
				t.Fatal(err)
			}
			posted, err := board.Job(t.Context(), "j")
			if is := err == nil; is != (n == 1) || is && (posted.Input.String() != "1" || posted.RunLabels["k"] != "v") {
				t.Errorf("after transaction %d: %+v, %v", n, posted, err)
			}
		}
	})
}

// TestPostInTask: a task posts a job in the transaction that records the task's result.
func TestPostInTask(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, store *sqlstore.Store, _, _ string) {
		board := jobs.New(store, jobs.Policy{})
		next := atom.Func("next", func(ctx context.Context, _ struct{}) (string, error) {
			return atom.Tx(ctx, func(tx *sql.Tx) (string, error) {
				ids, err := board.PostTx(ctx, tx, jobs.Job{Flow: "ship"})
				if err != nil {
					return "", err
				}
				return ids[0], nil
			})
		}, atom.As("job"))
		eng, err := engine.New(flow.Linear("f", next), store)
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		id, err := engine.Get(res, atom.NewKey[string]("job"))
		if err != nil {
			t.Fatal(err)
		}
		if j, err := board.Job(t.Context(), id); err != nil || j.Flow != "ship" {
			t.Errorf("job is %+v (%v)", j, err)
		}
	})
}
