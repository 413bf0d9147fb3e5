//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// open opens a file, or creates it.
func open(path string, like Like) (*os.File, error) {
	for {
		f, err := openThere(path, os.O_RDWR)
		if err == nil {
			return f, tighten(f, modeLike(like))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, modeLike(like))
		if errors.Is(err, fs.ErrExist) {
			if there, err := os.Lstat(path); err == nil && there.Mode()&fs.ModeSymlink != 0 { // to no file
				return nil, &fs.PathError{Op: "open", Path: path, Err: ErrForeign}
			}
			continue
		}
		if err == nil {
			err = errors.Join(f.Chmod(modeLike(like)), give(f, like)) // for any umask
		}
		return f, err
	}
}

// openThere opens a regular file that exists.
func openThere(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, how|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // does not wait for a FIFO
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENXIO) ||
		errors.Is(err, syscall.EMLINK) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrForeign}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrForeign}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// tighten sets the mode of a file, if it has no other name and this user may.
func tighten(f *os.File, mode fs.FileMode) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	is, known := info.Sys().(*syscall.Stat_t)
	if !known || is.Nlink != 1 || info.Mode().Perm() == mode {
		return nil
	}
	if err := f.Chmod(mode); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil // the file belongs to another user
}

// give gives a file that root created to the owner of another file, as SQLite does.
func give(f *os.File, like Like) error {
	if like == nil || os.Geteuid() != 0 {
		return nil
	}
	is, known := like.Sys().(*syscall.Stat_t)
	if !known {
		return nil
	}
	return f.Chown(int(is.Uid), int(is.Gid))
}
