package filelock

import "os"

// open opens a file, or creates it with the access rights of its folder. Windows does not use modes.
func open(path string, like Like) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, modeLike(like)) //nolint:gosec // the caller names it
}

func openThere(path string, how int) (*os.File, error) { return os.OpenFile(path, how, 0) }
