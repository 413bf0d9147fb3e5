package schema

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// applicationID marks Ebb's files: "Ebb1".
const applicationID = 0x45626231

// migrationTexts returns the texts of the migrations, in order.
func migrationTexts(migrations fs.FS) ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	return texts, nil
}

// Newest returns the number of the newest schema for files.
func Newest(migrations fs.FS) (int, error) {
	texts, err := migrationTexts(migrations)
	return first - 1 + len(texts), err
}

// A File describes what a SQLite file says about itself.
type File struct {
	Version     int64
	application int64
	tables      int64
}

// selectFile is one statement, so that all is read at one moment: another process may just be creating the tables.
const selectFile = `SELECT application_id AS application, user_version AS version,
  (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id, pragma_user_version`

// ReadFile reads the description of a file.
func ReadFile(ctx context.Context, conn *sqlx.Conn) (File, error) {
	var row struct {
		Application int64 `db:"application"`
		Version     int64 `db:"version"`
		Tables      int64 `db:"tables"`
	}
	err := conn.GetContext(ctx, &row, selectFile)
	return File{row.Version, row.Application, row.Tables}, err
}

// Empty reports whether no program has created tables in the file.
func (s File) Empty() bool { return s.application == 0 && s.Version == 0 && s.tables == 0 }

// Check returns an error for files of other programs and of newer versions.
func (s File) Check(file string, known int) error {
	switch {
	case s.Empty():
		return nil
	case s.application != applicationID:
		return fmt.Errorf("%w: %s belongs to another program (application id %#x): name another file", dberr.ErrForeign, file,
			uint32(s.application))
	case s.Version < 1:
		return fmt.Errorf("%w: %s has schema %d", storage.ErrCorrupt, file, s.Version)
	case s.Version < first:
		return unreleased(file, s.Version)
	case s.Version > int64(known):
		return fmt.Errorf("%w: %s (schema %d; this one knows %d): use that or newer", dberr.ErrNewer, file, s.Version, known)
	}
	return nil
}

// MigrateFile migrates the file to the newest schema. The caller must have the turn to write.
func MigrateFile(ctx context.Context, file string, conn *sqlx.Conn, migrations fs.FS) error {
	texts, err := migrationTexts(migrations)
	if err != nil {
		return err
	}
	s, err := ReadFile(ctx, conn)
	if err != nil {
		return err
	}
	newest := first - 1 + len(texts)
	if err := s.Check(file, newest); err != nil {
		return err
	}
	if s.Empty() {
		// Set this before the first page is written: Vacuum can then return free pages without rewriting the file.
		if err := run(ctx, conn, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	// In WAL mode, readers do not wait for the writer. A copy that SQLite made has another mode. The first read
	// creates the WAL.
	if err := run(ctx, conn, "PRAGMA journal_mode = WAL", "SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	}
	if int(s.Version) == newest {
		return nil
	}
	if !s.Empty() {
		texts = texts[s.Version-first+1:]
	}
	if err := migrateTo(ctx, conn, newest, texts); err != nil {
		return fmt.Errorf("migrate from schema %d to %d: %w", s.Version, newest, err)
	}
	return nil
}

// migrateTo runs the steps to a version in one transaction, so that no process finds a file between versions.
func migrateTo(ctx context.Context, conn *sqlx.Conn, version int, texts []string) error {
	if err := run(ctx, conn, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := run(ctx, conn, texts...)
	if err == nil {
		err = run(ctx, conn,
			"PRAGMA application_id = "+strconv.Itoa(applicationID),
			"PRAGMA user_version = "+strconv.Itoa(version))
	}
	failpoint.Hit("sqlstore.migrate")
	if err == nil {
		err = run(ctx, conn, "COMMIT")
	}
	if err != nil {
		return errors.Join(err, run(context.WithoutCancel(ctx), conn, "ROLLBACK"))
	}
	return nil
}

// run runs statements one after the other.
func run(ctx context.Context, conn *sqlx.Conn, statements ...string) error {
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
