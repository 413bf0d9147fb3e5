//go:build !linux

package dbfile

// stampOf returns false, because it is not implemented for this system.
func stampOf(string) (stamp, bool) { return stamp{}, false }

// nameOf returns "", because it is not implemented for this system.
func nameOf(Identity) string { return "" }
