//go:build unix

package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// An Identity distinguishes a file from all others, whatever their names.
type Identity struct{ device, inode uint64 }

// Identify returns the identity of the file at a path.
func Identify(path string) (Identity, error) {
	var is syscall.Stat_t
	err := syscall.Stat(path, &is)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Stat(path, &is)
	}
	if err != nil {
		return Identity{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return Identity{uint64(is.Dev), uint64(is.Ino)}, nil //nolint:unconvert // their types differ between systems
}

// others is the mode bit that lets users other than the owner and the group write.
const others = 0o002

// trust returns an error for a file that another user may have planted for this process to find. In a folder that every
// user may write to, it trusts only files of this user, of root, and of the owner of the folder. If the file does not
// exist, trust returns nil.
func trust(path string) error {
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil || folder.Mode().Perm()&others == 0 {
		return nil //nolint:nilerr // what is wrong with the folder shows elsewhere
	}
	file, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	by, known := file.Sys().(*syscall.Stat_t)
	of, knownToo := folder.Sys().(*syscall.Stat_t)
	if !known || !knownToo || by.Uid == 0 || by.Uid == of.Uid || int(by.Uid) == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("%w: %s belongs to another user (uid %d), in a folder that every user may write to: put the "+
		"database into a folder of its own",
		dberr.ErrForeign, path, by.Uid)
}

// Links returns the number of hard links to a file.
func Links(info fs.FileInfo) uint64 {
	is, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0
	}
	return uint64(is.Nlink) //nolint:unconvert // its type differs between systems
}
