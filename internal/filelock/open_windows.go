package filelock

import "os"

// open opens a file, or creates it with what its folder passes on: access here is
// not a matter of modes.
func open(path string, like Like) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, modeLike(like)) //nolint:gosec // the caller names it
}

func openThere(path string, how int) (*os.File, error) { return os.OpenFile(path, how, 0) }
