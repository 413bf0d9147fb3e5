//go:build unix

package server

import (
	"io/fs"
	"syscall"
)

// othersOf returns the permissions of a file that a file of secrets must not have.
func othersOf(info fs.FileInfo) fs.FileMode {
	if of, ok := info.Sys().(*syscall.Stat_t); ok && of.Uid == 0 {
		return 0o037
	}
	return 0o077
}
