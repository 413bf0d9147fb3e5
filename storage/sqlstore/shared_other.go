//go:build !linux

package sqlstore

// sharedFileSystem is not known here.
func sharedFileSystem(string) (string, error) { return "", nil }
