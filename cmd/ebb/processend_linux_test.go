package main

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// pidfdOpen is the number of that system call, on every machine.
const pidfdOpen = 434

// awaitEnd waits until a process has ended, even if it is not a child of this process.
func awaitEnd(t *testing.T, pid int, limit time.Time) {
	t.Helper()
	fd, _, errno := syscall.Syscall(pidfdOpen, uintptr(pid), 0, 0)
	if errno == syscall.ESRCH {
		return
	} else if errno != 0 {
		t.Fatal("pidfd_open: ", errno)
	}
	if err := syscall.SetNonblock(int(fd), true); err != nil { // so that the runtime polls it
		t.Fatal(err)
	}
	process := os.NewFile(fd, "process")
	defer func() { _ = process.Close() }() // it was only polled
	conn, err := process.SyscallConn()
	if err == nil {
		err = process.SetReadDeadline(limit)
	}
	if err != nil {
		t.Fatal(err)
	}
	polled := false
	err = conn.Read(func(uintptr) bool { // it is readable when the process has ended
		defer func() { polled = true }()
		return polled
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) { // after the limit, the caller sees the rest
		t.Fatal(err)
	}
}
