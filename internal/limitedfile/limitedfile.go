// Package limitedfile reads files that a user names. It refuses a file that exceeds a limit without reading it in full,
// because a name may stand for an endless file. The errors name the file.
package limitedfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// patience is how long Open waits for a process that writes to a named pipe.
const patience = 3 * time.Second

// errNoWriter is the error for a named pipe that no process has opened for writing.
var errNoWriter = errors.New("no process writes to this named pipe")

// Open opens a file for reading. It waits for the writer of a named pipe, but not for ever. After an error about that,
// the process is expected to end.
func Open(name string) (*os.File, error) {
	if info, err := os.Stat(name); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	type opened struct {
		file *os.File
		err  error
	}
	has := make(chan opened, 1)
	go func() {
		file, err := os.Open(name)
		has <- opened{file, err}
	}()
	over := time.NewTimer(patience)
	defer over.Stop()
	select {
	case o := <-has:
		return o.file, o.err
	case <-over.C:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNoWriter}
	}
}

// Read returns the text of a file of up to limit bytes.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, Unreadable(name, err)
	}
	text, err := ReadOpen(f, limit)
	return text, errors.Join(err, f.Close())
}

// ReadOpen returns the text of an open file.
func ReadOpen(f *os.File, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, Unreadable(f.Name(), err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", f.Name(), limit)
	}
	return text, nil
}

// Unreadable returns an error that says which file could not be read, and why.
func Unreadable(name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("%s cannot be read: %w", name, err)
}
