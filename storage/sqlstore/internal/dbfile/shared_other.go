//go:build !linux

package dbfile

// SharedSystem returns "", because it is not implemented for this system.
func SharedSystem(string) (string, error) { return "", nil }
