package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
)

// look returns the mode for opening the file, or why the store must not open the file.
func (s *store) look(ctx context.Context, write bool) (mode string, err error) {
	err = s.inspect(ctx, "rw")
	if !write && dberr.Unwritable(err) && s.resting() {
		return dbfile.Frozen, s.inspect(ctx, dbfile.Frozen)
	}
	return "rw", err
}

// inspect returns why the store must not open the file. It changes nothing.
func (s *store) inspect(ctx context.Context, mode string) error {
	info, err := os.Stat(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.readOnly:
		return fmt.Errorf("sqlstore: there is no database %s: %w", s.file, fs.ErrNotExist)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("sqlstore: open: %w: name another file", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a regular file: name another", ErrForeign, s.file)
	}
	if err := s.strangers(); err != nil {
		return err
	}
	found, err := s.schemaOf(ctx, mode)
	if err != nil {
		return err
	}
	newest, err := schema.Newest(s.steps)
	if err != nil {
		return err
	}
	if s.readOnly && found.Empty() {
		return fmt.Errorf("%w: %s is empty: name another, or let ebb run fill it", ErrForeign, s.file)
	}
	if err := found.Check(s.file, newest); err != nil {
		return err
	}
	if s.readOnly && found.Version < int64(newest) {
		return fmt.Errorf("%w: %s (schema %d; this one reads %d): open it once for writing", ErrOlder, s.file, found.Version,
			newest)
	}
	return nil
}

// found returns the schema of a file that may not exist, if its folder does.
func (s *store) found(ctx context.Context) (schema.File, error) {
	mode, err := s.look(ctx, false)
	if err != nil {
		return schema.File{}, err
	}
	if _, err := os.Stat(s.file); !errors.Is(err, fs.ErrNotExist) {
		return s.schemaOf(ctx, mode)
	}
	if _, err := os.Stat(filepath.Dir(s.file)); errors.Is(err, fs.ErrNotExist) {
		return schema.File{}, s.noFolder()
	}
	return schema.File{}, nil
}

// schemaOf reads the schema of the file through SQLite. If it closed a file descriptor of its own, the locks of other
// stores in this process would be lost. It does not use mode=ro, because a process that opens a WAL database in that
// mode cannot delete the files that it creates.
func (s *store) schemaOf(ctx context.Context, mode string) (found schema.File, err error) {
	db, err := dbfile.Connect(s.file, mode, "query_only(1)")
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Connx(ctx)
	if err != nil {
		return found, s.foreign(err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	found, err = schema.ReadFile(ctx, conn)
	return found, s.foreign(err)
}

// resting reports whether every commit is in the file itself: no process writes, and the last process that wrote
// closed the store cleanly.
func (s *store) resting() bool {
	info, err := os.Stat(s.file + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// foreign returns ErrForeign if err says that the file is not a database.
func (s *store) foreign(err error) error {
	if dberr.Code(err) == notADatabase {
		return fmt.Errorf("%w: %s is not a database: name another file", ErrForeign, s.file)
	}
	return err
}

const notADatabase = 26 // SQLITE_NOTADB
