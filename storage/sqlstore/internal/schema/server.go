package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// A Server is a PostgreSQL database with Ebb's tables in one of its schemas.
type Server struct {
	Place string // name of the database for messages
	Name  string // name of the schema
	Steps fs.FS  // the migrations
	DB    *sqlx.DB
}

// oldestServer is the oldest supported version, in PostgreSQL's numbering.
const oldestServer = 130000

// read returns the version of a server's schema, and which release migrated it.
func (s *Server) read(ctx context.Context, q sqlx.QueryerContext) (version int64, by string, err error) {
	var found struct {
		Number int64 `db:"number"` // server's version number
		Tables int64 `db:"tables"` // number of tables in the schema
		Steps  bool  `db:"steps"`  // the table of migrations exists
	}
	err = sqlx.GetContext(ctx, q, &found, `SELECT CAST(current_setting('server_version_num') AS BIGINT) AS number,
  (SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = $1) AS tables,
  EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migrations') AS steps`, s.Name)
	switch {
	case err != nil:
		return 0, "", err
	case found.Number < oldestServer:
		return 0, "", fmt.Errorf("sqlstore: %s is PostgreSQL %d: 13 or newer is needed", s.Place, found.Number/10000)
	}
	rights, err := s.rights(ctx, q)
	if err == nil {
		err = s.refusePublic(rights)
	}
	switch {
	case err != nil:
		return 0, "", err
	case !found.Steps && found.Tables > 0:
		return 0, "", fmt.Errorf(
			"%w: %s: in schema %s there are %d tables of another program: name another with ?schema=NAME",
			dberr.ErrForeign, s.Place, s.Name, found.Tables)
	case !found.Steps:
		return 0, "", nil
	}
	var last struct {
		Version int64  `db:"version"`
		By      string `db:"made_by"`
	}
	err = sqlx.GetContext(ctx, q, &last, `SELECT version, made_by FROM migrations ORDER BY version DESC LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) { // a migration has created only the table so far
		err = nil
	}
	return last.Version, last.By, err
}

// Look returns which schema the database has.
func (s *Server) Look(ctx context.Context) (Found, error) {
	version, by, err := s.read(ctx, s.DB)
	if err != nil {
		return Found{Place: s.Place}, err
	}
	return s.judge(version, by)
}

// judge returns an error for a schema that a newer Ebb created.
func (s *Server) judge(version int64, by string) (Found, error) {
	found, err := At(s.Place, version, s.Steps, serverSteps)
	for i := range found.Pending {
		m := &found.Pending[i]
		m.SQL = s.prelude() + m.SQL + fmt.Sprintf("\nINSERT INTO migrations (version, name, made_by) VALUES (%d, %s, %s);\n",
			m.Version, quoted(m.Name), quoted(release()))
	}
	if err == nil && version > found.Newest {
		err = fmt.Errorf("%w: %s has schema %d, made by ebb %s; this one knows %d: use ebb %s or newer", dberr.ErrNewer,
			s.Place, version, by, found.Newest, by)
	}
	return found, err
}

// prelude returns the statements that create the schema, and the table that records migrations, unless they exist.
func (s *Server) prelude() string {
	schema := pgx.Identifier{s.Name}.Sanitize()
	return "CREATE SCHEMA IF NOT EXISTS " + schema + ";\nSET LOCAL search_path = " + schema + `;
CREATE TABLE IF NOT EXISTS migrations (
  version BIGINT      PRIMARY KEY,
  name    TEXT        NOT NULL,
  made    TIMESTAMPTZ NOT NULL DEFAULT now(),
  made_by TEXT        NOT NULL
);

`
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Check returns an error if the database does not have the newest schema.
func (s *Server) Check(ctx context.Context) error {
	found, err := s.Look(ctx)
	switch {
	case err != nil:
		return err
	case found.Version == 0:
		return fmt.Errorf("%w: %s: run ebb migrate up", dberr.ErrNoTables, s.Place)
	case len(found.Pending) > 0:
		return fmt.Errorf("%w: %s (schema %d; this one needs %d): run ebb migrate up", dberr.ErrOlder, s.Place, found.Version,
			found.Newest)
	}
	return nil
}

// preludeTries bounds how often Migrate creates the schema and its first table again when another process creates
// them at the same time.
const preludeTries = 10

// Migrate runs the pending steps.
func (s *Server) Migrate(ctx context.Context) (before Found, err error) {
	if before, err = s.Look(ctx); err != nil || len(before.Pending) == 0 {
		return before, err
	}
	rights, err := s.rights(ctx, s.DB)
	if err == nil {
		err = s.refuseOwner(rights)
	}
	for try := 1; err == nil; try++ {
		if err = s.prepare(ctx); err == nil || try == preludeTries || !createdTwice(err) {
			break
		}
		err = ctx.Err()
	}
	for range before.Pending {
		if err == nil {
			err = s.patientStep(ctx)
		}
	}
	return before, err
}

// How long a step waits for the lock of a table that another transaction uses, and how often Migrate tries. A role
// that may only read can hold the lock for any time. While the step waits, every other use of the table waits behind
// the step.
const (
	stepLockTimeout = "SET LOCAL lock_timeout = '2s'"
	stepPause       = time.Second
	//limit:storage wait of a migration step for a table | 2 s, {} tries {stepPause} apart | fails
	stepTries = 20
)

// patientStep is step, but if a table is in use, it releases its locks and tries again.
func (s *Server) patientStep(ctx context.Context) error {
	for try := 1; ; try++ {
		err := s.step(ctx)
		if dberr.State(err) != dberr.IsLocked || try == stepTries {
			return err
		}
		pause := time.NewTimer(stepPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return errors.Join(ctx.Err(), err)
		}
	}
}

// prepare creates the schema and the table of migrations unless they exist.
func (s *Server) prepare(ctx context.Context) error {
	tx, err := s.DB.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if _, err := tx.ExecContext(ctx, s.prelude()); err != nil {
		return err
	}
	return tx.Commit()
}

// createdTwice reports whether two processes created the same schema or table at once: IF NOT EXISTS does not see
// uncommitted changes of another transaction.
func createdTwice(err error) bool {
	e, is := errors.AsType[*pgconn.PgError](err)
	return is && slices.Contains([]string{"23505", "42P06", "42P07"}, e.Code)
}

// step runs the next migration, unless another process has run all of them meanwhile.
func (s *Server) step(ctx context.Context) (err error) {
	conn, err := s.DB.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	tx, err := conn.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0"); err != nil {
		return err
	}
	// One process migrates at a time. This lock needs rights on the table. An advisory lock would let every role
	// that can connect to the database block all processes.
	if _, err := tx.ExecContext(ctx, "LOCK TABLE migrations IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return err
	}
	version, by, err := s.read(ctx, tx)
	if err != nil {
		return err
	}
	found, err := s.judge(version, by)
	if err != nil || len(found.Pending) == 0 {
		return err
	}
	next := found.Pending[0]
	if _, err := tx.ExecContext(ctx, stepLockTimeout); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, next.SQL); err != nil {
		return fmt.Errorf("step %d, %s: %w", next.Version, next.Name, err)
	}
	return tx.Commit()
}

// release returns the version of this Ebb.
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	const library = "github.com/ebbflow/ebb"
	if strings.HasPrefix(info.Main.Path, library) {
		return info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == library {
			return dep.Version
		}
	}
	return "unknown"
}
