package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxFile is how large a definition or a mock file may be, in bytes. A
// definition's own limit is lower.
const maxFile = 16 << 20

// readFile returns a file's text. What is larger than limit bytes is refused
// without being read, for a name may stand for something endless.
func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, readError(name, err)
	}
	text, err := readAll(f, limit)
	return text, errors.Join(err, f.Close())
}

// readAll returns the text of an open file.
func readAll(f *os.File, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, readError(f.Name(), err)
	}
	if int64(len(text)) > limit {
		return nil, usagef("%s is larger than %d bytes", f.Name(), limit)
	}
	return text, nil
}

// readError says which file could not be read, and why, in the user's words.
func readError(file string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return usagef("%s cannot be read: %w", file, err)
}
