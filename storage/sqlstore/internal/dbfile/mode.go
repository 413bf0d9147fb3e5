package dbfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ebbflow/ebb/internal/filelock"
)

// NewMode returns the mode of a new file. If shared is true, all users that may write to its folder may use the
// file.
func NewMode(file string, shared bool) (fs.FileMode, error) {
	if !shared {
		return filelock.Private, nil
	}
	folder, err := os.Stat(filepath.Dir(file))
	if err != nil {
		return 0, err
	}
	return filelock.Writers(folder.Mode()), nil
}

// Create creates the database as an empty file, unless it exists. If SQLite created it, the umask would decide
// which users may read it. This process must have the turn to write, because closing the file frees the locks that
// another store in this process holds on it.
func Create(file string, shared bool) error {
	mode, err := NewMode(file, shared)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// Likeness returns the owner and mode for the files beside the database: those of the database or, if it does not
// exist, those that it will have.
func Likeness(file string, shared bool) (filelock.Like, error) {
	info, err := os.Stat(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	mode, err := NewMode(file, shared)
	return toBe{mode}, err
}

// toBe describes a file that does not exist yet.
type toBe struct{ mode fs.FileMode }

// Mode implements filelock.Like.
func (t toBe) Mode() fs.FileMode { return t.mode }

// Sys implements filelock.Like. It returns nil: the user that creates the file owns it.
func (t toBe) Sys() any { return nil }
