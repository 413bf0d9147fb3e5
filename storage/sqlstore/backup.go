package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

var errServerBackup = errors.New("sqlstore: a database on a server is backed up by the server's own means: use pg_dump or pg_basebackup")

// Backup copies the database that the DSN names, as it is at one moment, into a
// new file, while others go on writing. The copy is of the schema that the
// database has, so one that an older Ebb made can be copied before it is changed.
// The file is there once it is whole and on the disk, and not before. Backup
// returns an error that wraps [fs.ErrExist] when there is such a file.
//
// It is for files: on a server use its own means.
//
// In the copy no run has a live owner. If processes resume a run in the copy and the same
// run here, the run is executed twice.
//
// The copy has the mode of a new database, see [FolderMode].
func Backup(ctx context.Context, dsn, file string, opts ...Option) error {
	if isServer(dsn) {
		return errServerBackup
	}
	db, err := fileOf(dsn)
	if err != nil {
		return err
	}
	s := &Store{file: db, readOnly: true, steps: migrations}
	for _, opt := range opts {
		opt(s)
	}
	mode, err := newMode(file, s.shared)
	if err != nil {
		return fmt.Errorf("sqlstore: back up to %s: %w", file, err)
	}
	return s.backUp(ctx, file, mode)
}

func (s *Store) backUp(ctx context.Context, file string, perm fs.FileMode) error {
	db := s.file
	mode, err := s.look(ctx, false)
	if err != nil && !errors.Is(err, ErrOlder) {
		return dberr.Failed(db, "open", err)
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("sqlstore: back up to %s: %w", file, fs.ErrExist)
	}
	part, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return fmt.Errorf("sqlstore: back up to %s: %w", file, err)
	}
	err = part.Chmod(perm)
	if err == nil {
		err = copyTo(ctx, db, mode, part.Name())
	}
	if err == nil { // SQLite leaves it to its caller to make the copy durable
		err = part.Sync()
	}
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		return errors.Join(dberr.Failed(db, "back up", err), os.Remove(part.Name()))
	}
	return syncFolder(filepath.Dir(file))
}

// copyTo writes a copy into an empty file.
func copyTo(ctx context.Context, from, mode, to string) (err error) {
	db, err := connect(from, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// syncFolder makes a new name in a folder durable, where the system lets one.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	err = folder.Sync()
	if errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission) {
		err = nil // a system on which folders are not synced
	}
	return errors.Join(err, folder.Close())
}
