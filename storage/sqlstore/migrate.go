package sqlstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage"
)

// applicationID marks the files that are ours: "Ebb1".
const applicationID = 0x45626231

// migrations are only ever added to. The number at the head of a name is the
// schema's version once that step is done. One transaction makes the steps that a
// file lacks.
//
//go:embed migrations/*.sql migrations/postgres/*.sql
var migrations embed.FS

// firstSchema is the number of the first migration. Earlier numbers belong to
// checkouts of Ebb that were never released.
const firstSchema = 11

// unreleased returns the error for a database of such a checkout. Nothing of it is
// changed.
func unreleased(place string, version int64) error {
	return fmt.Errorf("%w: %s has schema %d of a checkout from before version 0.1, which cannot be migrated: "+
		"finish its runs with the ebb that made it, or name another database", ErrOlder, place, version)
}

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

// schema is what a file says about itself.
type schema struct {
	application int64
	version     int64
	tables      int64
}

func readSchema(ctx context.Context, conn *sqlx.Conn) (schema, error) {
	var s schema
	err := errors.Join(
		conn.GetContext(ctx, &s.application, "PRAGMA application_id"),
		conn.GetContext(ctx, &s.version, "PRAGMA user_version"),
		conn.GetContext(ctx, &s.tables, "SELECT count(*) FROM sqlite_schema"),
	)
	return s, err
}

// empty reports whether no program has created anything in the file yet.
func (s schema) empty() bool { return s.application == 0 && s.version == 0 && s.tables == 0 }

// check refuses files of others and of newer versions.
func (s schema) check(file string, known int) error {
	switch {
	case s.empty():
		return nil
	case s.application != applicationID:
		return fmt.Errorf("%w: %s belongs to another program (application id %#x): name another file", ErrForeign, file, uint32(s.application))
	case s.version < 1:
		return fmt.Errorf("%w: %s says that its schema is %d", storage.ErrCorrupt, file, s.version)
	case s.version < firstSchema:
		return unreleased(file, s.version)
	case s.version > int64(known):
		return fmt.Errorf("%w: %s (schema %d; this one knows %d): use that or newer", ErrNewer, file, s.version, known)
	}
	return nil
}

// migrate brings the file to the newest schema. The caller has the turn to
// write.
func migrate(ctx context.Context, file string, conn *sqlx.Conn, migrations fs.FS) error {
	texts, err := migrationTexts(migrations)
	if err != nil {
		return err
	}
	s, err := readSchema(ctx, conn)
	if err != nil {
		return err
	}
	newest := firstSchema - 1 + len(texts)
	if err := s.check(file, newest); err != nil {
		return err
	}
	if s.empty() {
		// It holds from the first page on: freed pages can be given back later
		// without rewriting the file.
		if err := run(ctx, conn, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	// Readers do not wait for the writer. A copy that SQLite made has another mode. With
	// the first that is read there is a log.
	if err := run(ctx, conn, "PRAGMA journal_mode = WAL", "SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	}
	if int(s.version) == newest {
		return nil
	}
	if !s.empty() {
		texts = texts[s.version-firstSchema+1:]
	}
	if err := migrateTo(ctx, conn, newest, texts); err != nil {
		return fmt.Errorf("migrate from schema %d to %d: %w", s.version, newest, err)
	}
	return nil
}

// migrateTo makes the steps to a version in one transaction, so that no process finds
// a file in between.
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
