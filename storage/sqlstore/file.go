package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
)

// ErrReplaced is returned by methods that write when the database file, or the log
// beside it, was replaced, moved or deleted while the store had it open. What is
// written after that would be in a file without a name. Nothing more is written.
var ErrReplaced = fmt.Errorf(
	"sqlstore: %w: the file was replaced, moved or deleted while it was in use: stop all processes that use it, then start them again", storage.ErrBroken)

// siblings are the files of a database, by what their names end in.
var siblings = [...]string{"", "-wal", "-shm"}

const log = 1 // of siblings, the log

// A site is where the files of a database are, and which files those were when it was
// opened. SQLite finds its files by their names and then keeps them open.
type site struct {
	folder string
	names  [len(siblings)]string
	is     [len(siblings)]identity

	stamp atomic.Pointer[stamp] // of the folder when the names were looked at last; nil when nothing follows from it
}

// A stamp is of a folder and the time of its last change: of a name in it, or its own.
type stamp struct {
	device, inode uint64
	changed       int64
}

// siteOf remembers the files, all of which exist.
func siteOf(file string) (*site, error) {
	s := &site{folder: filepath.Dir(file)}
	for i, end := range siblings {
		is, err := identify(file + end)
		if err != nil {
			return nil, err
		}
		s.names[i], s.is[i] = file+end, is
	}
	return s, nil
}

// check returns ErrReplaced unless the names still lead to the same files. A nil site has
// no files.
func (s *site) check() error {
	if s == nil {
		return nil
	}
	now, known := stampOf(s.folder)
	if last := s.stamp.Load(); known && last != nil && *last == now {
		return nil
	}
	for i, name := range s.names {
		is, err := identify(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sqlstore: look whether %s is still the same: %w", name, err)
		}
		if err != nil || is != s.is[i] {
			return fmt.Errorf("%w (%s)", ErrReplaced, name)
		}
	}
	if known {
		s.stamp.Store(&now)
	}
	return nil
}

// logReplaced reports whether the name of the log does not lead to this store's log any
// more. SQLite would delete what has the name.
func (s *site) logReplaced() bool {
	is, err := identify(s.names[log])
	return err != nil || is != s.is[log]
}

// FolderMode lets every user that may write to the folder of a new database use the
// database: its mode is that of the folder for the classes of users, owner, group and
// others, that may write there. Without FolderMode only the user that creates a database
// may use it. Ebb ignores the umask in either case. The files beside a database take its
// mode, and the database keeps the mode that it has.
func FolderMode() Option { return func(s *Store) { s.shared = true } }

// newMode returns the mode of a file that is to be created.
func newMode(file string, shared bool) (fs.FileMode, error) {
	if !shared {
		return filelock.Private, nil
	}
	folder, err := os.Stat(filepath.Dir(file))
	if err != nil {
		return 0, err
	}
	return filelock.Writers(folder.Mode()), nil
}

// label returns what the lock file of an owner says: which process it is, and which file
// it works on.
func (s *Store) label() (string, error) {
	is, err := identify(s.file)
	return fmt.Sprintf("%d %v\n", os.Getpid(), is), err
}

// strangers returns ErrReplaced when processes live that work on another file which had
// this one's name before: their log, still beside it, would be taken for this one's.
func (s *Store) strangers() error {
	is, err := identify(s.file)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(globEscape(s.file) + "-owner-*")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		pid, file, found := strings.Cut(strings.TrimSpace(string(text)), " ")
		if err != nil || !found || file == fmt.Sprint(is) { // it has gone, is not for us to read, or of an older Ebb
			continue
		}
		if alive, err := s.lives(strings.TrimPrefix(name, lockFile(s.file, ""))); err != nil {
			return err
		} else if alive {
			return fmt.Errorf("%w: process %s still works on the file that was %s before: end it first", ErrReplaced, pid, s.file)
		}
	}
	return nil
}

// create creates the database as an empty file, unless it exists: SQLite would let
// the umask decide which users may read it. This process must have the turn to write: closing
// the file would free the locks of another store in this process that has opened it.
func (s *Store) create() error {
	mode, err := newMode(s.file, s.shared)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.file, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// look fills in what is to be said of a file.
func (f *Files) look(file string) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	folder, err := os.Stat(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	f.Mode, f.Want, f.Folder, f.Links = info.Mode().Perm(), filelock.Writers(info.Mode()), folder.Mode(), linksOf(info)
	return nil
}

// likeness returns what the files beside the database take after: the database, or,
// while there is none, a file of the mode that it will have.
func (s *Store) likeness() (filelock.Like, error) {
	info, err := os.Stat(s.file)
	if !errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	mode, err := newMode(s.file, s.shared)
	return toBe{mode}, err
}

// toBe describes a file that does not exist yet.
type toBe struct{ mode fs.FileMode }

// Mode returns its mode.
func (t toBe) Mode() fs.FileMode { return t.mode }

// Sys returns nothing: the user that creates the file owns it.
func (t toBe) Sys() any { return nil }
