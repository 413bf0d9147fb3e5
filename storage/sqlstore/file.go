package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
)

// FolderMode lets every user that may write to the folder of a new database use the database. The database then has
// the folder's mode for each class of users, owner, group and others, that may write there. Without FolderMode,
// only the user that creates a database may use it. Ebb ignores the umask in either case. The files beside a
// database have its mode. FolderMode does not change the mode of an existing database.
func FolderMode() Option { return func(s *store) { s.shared = true } }

// label returns the text that an owner's lock file contains: its process, and the file that it works on.
func (s *store) label() (string, error) {
	is, err := dbfile.Identify(s.file)
	return fmt.Sprintf("%d %v\n", os.Getpid(), is), err
}

// strangers returns ErrReplaced if a live process works on another file that had this one's name before, or on this
// file, which had another name in this folder. The WAL of that process has the old name, so this process would read a
// WAL that is not the file's, or miss what the file's WAL holds.
func (s *store) strangers() error {
	is, err := dbfile.Identify(s.file)
	if err != nil {
		return err
	}
	names, err := filepath.Glob(filepath.Join(globEscape(filepath.Dir(s.file)), "*"+lockFile("", "*")))
	if err != nil {
		return err
	}
	for _, name := range names {
		by := name[:strings.LastIndex(name, lockFile("", ""))]
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxLabel {
			continue
		}
		text, err := os.ReadFile(name)
		pid, file, found := strings.Cut(strings.TrimSpace(string(text)), " ")
		// The lock file is gone, unreadable, or of a database that has nothing to do with this one.
		if err != nil || !found || (by == s.file) == (file == fmt.Sprint(is)) {
			continue
		}
		if alive, err := s.lives(name); err != nil {
			return err
		} else if alive {
			return fmt.Errorf("%w: process %s still uses as %s a file of another name: end that process first",
				ErrReplaced, pid, by)
		}
	}
	return nil
}

// maxLabel is the maximum size of a lock file in bytes.
const maxLabel = 1 << 10

// look fills in the modes of a file.
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
	f.Mode, f.Want, f.Folder, f.Links = info.Mode().Perm(), filelock.Writers(info.Mode()), folder.Mode(),
		dbfile.Links(info)
	return nil
}
