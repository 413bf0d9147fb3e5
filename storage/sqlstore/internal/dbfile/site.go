package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// siblings are the suffixes of the names of a database's files.
var siblings = [...]string{"", "-wal", "-shm"}

const logFile = 1 // index in siblings

// A Site records which files had the names of a database when it was opened. SQLite finds its files by their names
// and then keeps them open.
type Site struct {
	folder string
	names  [len(siblings)]string
	is     [len(siblings)]Identity
	link   string // symbolic link by which a user names the file; "" if there is none

	stamp atomic.Pointer[stamp] // state of the folder when Check last looked at the names; nil if it proves nothing
}

// A stamp identifies a folder and the time of its last change. Creating, removing or renaming a file in the folder
// is such a change.
type stamp struct {
	device, inode uint64
	changed       int64
}

// SiteOf records the files, which must exist, of the database that a DSN names.
func SiteOf(file, dsn string) (*Site, error) {
	s := &Site{folder: filepath.Dir(file)}
	if name, err := filepath.Abs(strings.TrimPrefix(dsn, "sqlite:")); err == nil && name != file {
		s.link = name
	}
	for i, end := range siblings {
		is, err := Identify(file + end)
		if err != nil {
			return nil, err
		}
		s.names[i], s.is[i] = file+end, is
	}
	return s, nil
}

// Check returns dberr.ErrReplaced if a name no longer belongs to the same file. A nil Site has no files.
func (s *Site) Check() error {
	if s == nil {
		return nil
	}
	if s.link != "" {
		if err := check(s.link, s.is[0]); err != nil {
			return err
		}
	}
	now, known := stampOf(s.folder)
	if last := s.stamp.Load(); known && last != nil && *last == now {
		return nil
	}
	for i, name := range s.names {
		if err := check(name, s.is[i]); err != nil {
			return err
		}
	}
	if known {
		s.stamp.Store(&now)
	}
	return nil
}

// check returns dberr.ErrReplaced if a name does not belong to this file.
func check(name string, want Identity) error {
	is, err := Identify(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sqlstore: check whether %s is still the same file: %w", name, err)
	}
	if err != nil || is != want {
		return fmt.Errorf("%w (%s)", dberr.ErrReplaced, name)
	}
	return nil
}

// Taken returns dberr.ErrReplaced if the database has another name now, by which another process has opened it. That
// process has another WAL, so this one must be copied into the database no more. SQLite copies it when the last
// connection of this process is closed.
func (s *Site) Taken() error {
	if s == nil {
		return nil
	}
	file := nameOf(s.is[0])
	for i, end := range siblings {
		if is, err := Identify(file + end); err == nil && is != s.is[i] {
			return fmt.Errorf("%w: another process uses %s, which was %s", dberr.ErrReplaced, file, s.names[0])
		}
	}
	return nil
}

// LogReplaced reports whether the name of the WAL no longer belongs to this store's WAL. SQLite would delete the
// file that has the name now.
func (s *Site) LogReplaced() bool {
	is, err := Identify(s.names[logFile])
	return err != nil || is != s.is[logFile]
}

// Trust returns an error if another user may have created one of the files for this process to find.
func Trust(file string) error {
	first, second := Gates(file)
	for _, name := range [...]string{file, file + "-wal", file + "-shm", first, second} {
		if err := trust(name); err != nil {
			return err
		}
	}
	return nil
}

// Gates returns the names of the two empty files at whose locks processes wait for their turn to write. The names
// begin with a dot, because the files are of no use to a person.
func Gates(file string) (first, second string) {
	hidden := filepath.Join(filepath.Dir(file), "."+filepath.Base(file))
	return hidden + "-turn-a", hidden + "-turn-b"
}
