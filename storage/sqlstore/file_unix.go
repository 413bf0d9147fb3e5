//go:build unix

package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// An identity tells a file from all others, whatever their names.
type identity struct{ device, inode uint64 }

func identify(path string) (identity, error) {
	var is syscall.Stat_t
	err := syscall.Stat(path, &is)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Stat(path, &is)
	}
	if err != nil {
		return identity{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return identity{uint64(is.Dev), uint64(is.Ino)}, nil //nolint:unconvert // their types differ between systems
}

// others are the bits of a mode for users other than the owner and the group.
const others = 0o002

// trust returns an error for a file in a folder that every user may write to, unless
// the file is this user's, root's, or of the owner of the folder: any other user may
// have put it there for this process to find. Without a file there is no error.
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
	return fmt.Errorf("%w: %s belongs to another user (uid %d), in a folder that everybody may write to: put the database into a folder of its own",
		ErrForeign, path, by.Uid)
}

// linksOf returns how many names a file has.
func linksOf(info fs.FileInfo) uint64 {
	is, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0
	}
	return uint64(is.Nlink) //nolint:unconvert // its type differs between systems
}
