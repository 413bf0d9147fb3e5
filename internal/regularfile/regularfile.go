// Package regularfile opens files whose names come from outside, such as from a definition. It opens only regular
// files: a named pipe blocks the process that opens it, and opening a device may have effects. It looks names up in an
// [os.Root], so no name leads out of its folder, by .. or by a symbolic link.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	// ErrNotRegular is returned for a folder, a named pipe, a device or a socket.
	ErrNotRegular = errors.New("it is no regular file")
	// ErrTooLarge is returned by [Read] for a file that exceeds the limit.
	ErrTooLarge = errors.New("it is too large")
)

// Open opens a regular file as [os.Root.OpenFile] does. It never waits for another process. Errors do not name the
// file.
func Open(root *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	// It checks before, because opening a device may have an effect, and after, because another file may have taken the
	// name.
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	file, err := root.OpenFile(name, flag|dontWait, perm)
	if err != nil {
		return nil, reason(err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// OpenNamed opens a regular file anywhere, which may be the target of a symbolic link. It never waits for another
// process. It is for files that the operator names, and that are read again while requests wait.
func OpenNamed(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Read returns the text of a regular file of up to limit bytes.
func Read(root *os.Root, name string, limit int64) (text []byte, err error) {
	file, err := Open(root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if text, err = io.ReadAll(io.LimitReader(file, limit+1)); err != nil {
		return nil, reason(err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%w: %d bytes are the most", ErrTooLarge, limit)
	}
	return text, nil
}

// reason returns an error without the file's name.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
