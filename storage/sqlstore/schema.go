package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// A Schema says how far a database is from the tables that this Ebb works with.
type Schema struct {
	Place   string      // the file, or the server and its database, without user and password
	Version int64       // 0 when Ebb has no tables there yet
	Newest  int64       // what this Ebb works with
	Pending []Migration // the steps from the one to the other
}

// A Migration is a step from a schema to the next.
type Migration struct {
	Version int64 // once it is done
	Name    string
	SQL     string // what one transaction does
}

// Script returns the pending steps as a text for psql, for operators that let no
// program change their tables.
func (s *Schema) Script() string {
	var b strings.Builder
	for _, m := range s.Pending {
		fmt.Fprintf(&b, "-- %s\nBEGIN;\n%sCOMMIT;\n", m.Name, m.SQL)
	}
	return b.String()
}

// SchemaOf looks how far the database is that the DSN names, and changes nothing.
// It returns [ErrForeign] and [ErrNewer] as [Open] does.
func SchemaOf(ctx context.Context, dsn string) (Schema, error) {
	if isServer(dsn) {
		return onServer(dsn, func(s *server) (Schema, error) { return s.look(ctx) })
	}
	file, err := fileOf(dsn)
	if err != nil {
		return Schema{}, err
	}
	s := &Store{place: file, dialect: fileDialect, file: file, steps: migrations}
	found, err := s.found(ctx)
	if err != nil {
		return Schema{}, dberr.Failed(file, "open", err)
	}
	return schemaAt(file, found.version, migrations, "migrations")
}

// Migrate brings the database that the DSN names to the schema that this Ebb
// works with, and returns how far it was before. Each step is one transaction. If several
// processes migrate, one goes after the other. A file is migrated whenever it is opened. On
// a server the operator decides when to migrate, because every process there must be able
// to work with the result.
func Migrate(ctx context.Context, dsn string) (Schema, error) {
	if isServer(dsn) {
		return onServer(dsn, func(s *server) (Schema, error) { return s.migrate(ctx) })
	}
	before, err := SchemaOf(ctx, dsn)
	if err != nil {
		return before, err
	}
	s, err := Open(ctx, dsn)
	if err != nil {
		return before, err
	}
	return before, s.Close() //nolint:contextcheck // what is open is closed, whatever became of ctx
}

// schemaAt returns the schema of a place, with the migrations in a folder that it lacks. It returns [ErrOlder] for a schema that
// cannot be migrated.
func schemaAt(place string, version int64, migrations fs.FS, folder string) (Schema, error) {
	s := Schema{Place: place, Version: version}
	if version > 0 && version < firstSchema {
		return s, unreleased(place, version)
	}
	names, err := fs.Glob(migrations, folder+"/*.sql")
	if err != nil {
		return s, err
	}
	for _, name := range names {
		number, title, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".sql"), "_")
		m := Migration{Name: strings.ReplaceAll(title, "_", " ")}
		if m.Version, err = strconv.ParseInt(number, 10, 64); err != nil {
			return s, fmt.Errorf("sqlstore: %s: a migration's name begins with its number: %w", name, err)
		}
		s.Newest = m.Version
		if m.Version <= version {
			continue
		}
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return s, err
		}
		m.SQL = string(text)
		s.Pending = append(s.Pending, m)
	}
	return s, nil
}

// serverSteps is where the steps of a server's schema are.
const serverSteps = "migrations/postgres"

// onServer calls f with a server that is connected to.
func onServer(dsn string, f func(*server) (Schema, error)) (Schema, error) {
	s, err := serverOf(dsn)
	if err != nil {
		return Schema{}, err
	}
	s.open()
	found, err := f(s)
	return found, errors.Join(dberr.Failed(s.place, "migrate", err), s.db.Close())
}

// oldestServer is the oldest PostgreSQL that has what is used, as it numbers them.
const oldestServer = 130000

// read returns the version of a server's database, and which program migrated it.
func (s *server) read(ctx context.Context, q sqlx.QueryerContext) (version int64, by string, err error) {
	var found struct {
		Number int64 `db:"number"` // of the server's version
		Tables int64 `db:"tables"` // in the schema
		Steps  bool  `db:"steps"`  // the table of migrations is there
	}
	err = sqlx.GetContext(ctx, q, &found, `SELECT CAST(current_setting('server_version_num') AS BIGINT) AS number,
  (SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = $1) AS tables,
  EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migrations') AS steps`, s.schema)
	switch {
	case err != nil:
		return 0, "", err
	case found.Number < oldestServer:
		return 0, "", fmt.Errorf("sqlstore: %s is PostgreSQL %d: 13 or newer is needed", s.place, found.Number/10000)
	}
	rights, err := s.rights(ctx, q)
	if err == nil {
		err = s.refusePublic(rights)
	}
	switch {
	case err != nil:
		return 0, "", err
	case !found.Steps && found.Tables > 0:
		return 0, "", fmt.Errorf("%w: %s: in schema %s there are %d tables of another program: name another with ?schema=NAME",
			ErrForeign, s.place, s.schema, found.Tables)
	case !found.Steps:
		return 0, "", nil
	}
	var last struct {
		Version int64  `db:"version"`
		By      string `db:"made_by"`
	}
	err = sqlx.GetContext(ctx, q, &last, `SELECT version, made_by FROM migrations ORDER BY version DESC LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) { // a migration has created the table and nothing else yet
		err = nil
	}
	return last.Version, last.By, err
}

// look returns how far a server's database is.
func (s *server) look(ctx context.Context) (Schema, error) {
	version, by, err := s.read(ctx, s.db)
	if err != nil {
		return Schema{Place: s.place}, err
	}
	return s.judge(version, by)
}

// judge refuses a schema that a newer Ebb made.
func (s *server) judge(version int64, by string) (Schema, error) {
	found, err := schemaAt(s.place, version, s.steps, serverSteps)
	for i := range found.Pending {
		m := &found.Pending[i]
		m.SQL = s.prelude() + m.SQL + fmt.Sprintf("\nINSERT INTO migrations (version, name, made_by) VALUES (%d, %s, %s);\n",
			m.Version, quoted(m.Name), quoted(release()))
	}
	if err == nil && version > found.Newest {
		err = fmt.Errorf("%w: %s has schema %d, made by ebb %s; this one knows %d: use ebb %s or newer", ErrNewer, s.place, version, by, found.Newest, by)
	}
	return found, err
}

// prelude makes the schema, and the table in which its steps are written down,
// unless they are there.
func (s *server) prelude() string {
	schema := pgx.Identifier{s.schema}.Sanitize()
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

// check refuses a database that is not of today's schema.
func (s *server) check(ctx context.Context) error {
	found, err := s.look(ctx)
	switch {
	case err != nil:
		return err
	case found.Version == 0:
		return fmt.Errorf("%w: %s: run ebb migrate up", ErrNoTables, s.place)
	case len(found.Pending) > 0:
		return fmt.Errorf("%w: %s (schema %d; this one needs %d): run ebb migrate up", ErrOlder, s.place, found.Version, found.Newest)
	}
	return nil
}

// preludeTries is how often the schema and its first table are created anew when another
// process creates them at the same time.
const preludeTries = 10

// migrate makes the steps that are missing.
func (s *server) migrate(ctx context.Context) (before Schema, err error) {
	if before, err = s.look(ctx); err != nil || len(before.Pending) == 0 {
		return before, err
	}
	rights, err := s.rights(ctx, s.db)
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

// How long a step waits for the lock of a table that a transaction of another process uses, which a role may hold for as long
// as it likes that may only read. Everything else that wants the table waits behind the step meanwhile.
const (
	stepPatience = 2 * time.Second
	stepPause    = time.Second
	stepTries    = 20
)

// patientStep is step. It gives way, and tries again, when a table is in use.
func (s *server) patientStep(ctx context.Context) error {
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

// prepare creates the schema and the table of migrations unless they are there.
func (s *server) prepare(ctx context.Context) error {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it may be committed
	if _, err := tx.ExecContext(ctx, s.prelude()); err != nil {
		return err
	}
	return tx.Commit()
}

// createdTwice reports whether two processes created the same schema or table at once:
// IF NOT EXISTS does not see what another transaction has not committed.
func createdTwice(err error) bool {
	e, is := errors.AsType[*pgconn.PgError](err)
	return is && slices.Contains([]string{"23505", "42P06", "42P07"}, e.Code)
}

// step runs the next migration, unless another process has run all of them meanwhile.
func (s *server) step(ctx context.Context) (err error) {
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	tx, err := conn.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it may be committed
	if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0"); err != nil {
		return err
	}
	// One process migrates at a time. The lock takes rights on the table: every role that
	// can connect to the database could hold an advisory lock, and with it up all others.
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
	if _, err := tx.ExecContext(ctx, "SET LOCAL lock_timeout = "+millis(stepPatience)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, next.SQL); err != nil {
		return fmt.Errorf("step %d, %s: %w", next.Version, next.Name, err)
	}
	return tx.Commit()
}

// release returns which Ebb this is.
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
