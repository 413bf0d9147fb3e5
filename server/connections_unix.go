//go:build unix

package server

import (
	"net"
	"syscall"
)

// openFiles returns the maximum number of open files of the process.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return maxConnections
	}
	return int(min(uint64(limit.Cur), 1<<20)) //nolint:unconvert // of another type on some systems
}

// hasArrived reports whether the connection has data that was not read.
func hasArrived(conn net.Conn) bool {
	there, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := there.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = raw.Control(func(fd uintptr) {
		// If there is no byte, Recvfrom returns an error.
		n, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
	})
	return err == nil && n > 0
}
