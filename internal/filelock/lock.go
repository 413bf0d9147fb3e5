package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrLocked is returned by Try if another process holds the lock.
var ErrLocked = errors.New("filelock: locked by another")

// mode is a way to take a lock.
type mode uint8

const (
	waiting mode = iota // exclusive, waits until it is free
	trying              // exclusive, only if it is free
	shared              // with other shared holders, if no process holds it exclusively
)

// A Lock is a file that can be locked. Only one goroutine may use it at a time.
type Lock struct{ file *os.File }

// Private is the mode of a file that only its owner may use.
const Private fs.FileMode = 0o600

// Like describes a file whose users a lock is for. An [fs.FileInfo] does.
type Like interface {
	Mode() fs.FileMode
	Sys() any
}

// ErrForeign is returned for a path that does not name a regular file, such as a symbolic link. Its target is not
// touched.
var ErrForeign = errors.New("filelock: not a regular file: remove it")

// Open opens the file without locking it. If the file does not exist, Open creates
// it for the users who may write the file like, regardless of the umask. If the
// system lets the process choose an owner, the new file has the owner of like. If
// like is nil, the mode is [Private]. Open does not follow symbolic links. If the
// file belongs to this user and other users could open it for reading only, Open
// gives it the same mode: to lock a file, a process only needs to read it.
func Open(path string, like Like) (*Lock, error) {
	f, err := open(path, like)
	if err != nil {
		return nil, fmt.Errorf("filelock: %w", err)
	}
	return &Lock{f}, nil
}

// Writers returns the mode under which the users who may write a file of mode may
// read and write, and no other user may do either. Its owner always may.
func Writers(mode fs.FileMode) fs.FileMode {
	writes := mode.Perm()&0o222 | Private&0o222
	return writes | writes<<1
}

// modeLike returns the mode of a lock beside a file.
func modeLike(like Like) fs.FileMode {
	if like == nil {
		return Private
	}
	return Writers(like.Mode())
}

// Create opens the file as [Open] does and locks it. If another process holds the lock, it returns ErrLocked. The lock
// is on the file that has the path afterwards, even if another process deletes files of that name meanwhile.
func Create(path string, like Like) (*Lock, error) {
	for {
		l, err := Open(path, like)
		if err != nil {
			return nil, err
		}
		if err := l.Try(); err != nil {
			return nil, errors.Join(err, l.Close())
		}
		if l.Current() {
			return l, nil
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
}

// Write replaces the content of the file. Other processes may read it at any time.
func (l *Lock) Write(text string) error {
	if err := l.file.Truncate(0); err != nil {
		return l.wrap("write", err)
	}
	_, err := l.file.WriteAt([]byte(text), 0)
	return l.wrap("write", err)
}

// Probe checks whether a process holds the lock of the file, and returns ErrLocked
// if so. Probe does not create the file. If no process holds the lock, no process can
// take it until the returned lock is closed or removed. Other processes may still
// probe it.
func Probe(path string) (*Lock, error) {
	f, err := openThere(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("filelock: %w", err)
	}
	l := &Lock{f}
	if err := l.wrap("probe", lock(f, shared)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Current reports whether the path still names the file. If not, a process that opens the path gets another lock.
func (l *Lock) Current() bool {
	held, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.file.Name())
	return err == nil && os.SameFile(held, there)
}

// Lock waits until it holds the lock.
func (l *Lock) Lock() error { return l.wrap("lock", lock(l.file, waiting)) }

// Try takes the lock, or returns ErrLocked.
func (l *Lock) Try() error { return l.wrap("lock", lock(l.file, trying)) }

// Unlock releases the lock.
func (l *Lock) Unlock() error { return l.wrap("unlock", unlock(l.file)) }

// Close releases the lock and closes the file. It does not delete the file.
func (l *Lock) Close() error { return l.wrap("close", l.file.Close()) }

// Remove releases the lock and deletes the file. No process can find the lock free in between.
func (l *Lock) Remove() error {
	err := os.Remove(l.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if closed := l.Close(); err == nil {
		return closed
	}
	// On systems that cannot delete files in use, the file disappears once it is closed.
	return l.wrap("remove", os.Remove(l.file.Name()))
}

func (l *Lock) wrap(what string, err error) error {
	if err == nil || errors.Is(err, ErrLocked) {
		return err
	}
	return fmt.Errorf("filelock: %s %s: %w", what, l.file.Name(), err)
}
