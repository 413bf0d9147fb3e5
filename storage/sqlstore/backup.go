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
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
)

var errServerBackup = errors.New("sqlstore: cannot back up a database on a server: use pg_dump or pg_basebackup")

// Backup copies one snapshot of the database that the DSN names into a new file. Other processes may write
// meanwhile. The copy has the schema of the database, so you can back up a database of an older Ebb before you
// migrate it. The file appears when the copy is complete and on the disk. If the file exists, Backup returns an
// error that wraps [fs.ErrExist].
//
// Backup copies only SQLite files. For PostgreSQL, use pg_dump or pg_basebackup.
//
// In the copy no run has a live owner. Do not resume a run both in the copy and in the original database: each of
// them would execute it.
//
// The copy has the mode of a new database, see [FolderMode].
func Backup(ctx context.Context, dsn, file string, opts ...Option) error {
	if postgres.IsDSN(dsn) {
		return errServerBackup
	}
	db, err := dbfile.Path(dsn)
	if err != nil {
		return err
	}
	s := &store{file: db, readOnly: true, steps: schema.Migrations}
	for _, opt := range opts {
		opt(s)
	}
	mode, err := dbfile.NewMode(file, s.shared)
	if err != nil {
		return fmt.Errorf("sqlstore: back up to %s: %w", file, err)
	}
	return s.backUp(ctx, file, mode)
}

func (s *store) backUp(ctx context.Context, file string, perm fs.FileMode) error {
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
	if err == nil { // SQLite does not sync the copy
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
	db, err := dbfile.Connect(from, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// syncFolder makes a new name in a folder durable, if the operating system supports that.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	err = folder.Sync()
	if errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission) {
		err = nil // this system cannot sync folders
	}
	return errors.Join(err, folder.Close())
}
