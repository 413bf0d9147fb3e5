//go:build !linux

package dbfile

// ReadOnly returns false: how this system names such a mount is not known. A write tells it.
func ReadOnly(string) bool { return false }
