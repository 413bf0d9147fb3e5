package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel32.NewProc("LockFileEx")
	unlockFileEx = kernel32.NewProc("UnlockFileEx")
)

const (
	failImmediately = 1   // LOCKFILE_FAIL_IMMEDIATELY
	exclusive       = 2   // LOCKFILE_EXCLUSIVE_LOCK
	violation       = 33  // ERROR_LOCK_VIOLATION
	pending         = 997 // ERROR_IO_PENDING
	allBytes        = ^uint32(0)
)

func lock(f *os.File, m mode) error {
	flags := [...]uintptr{
		waiting: exclusive,
		trying:  exclusive | failImmediately,
		shared:  failImmediately,
	}[m]
	var at syscall.Overlapped
	ok, _, err := lockFileEx.Call(f.Fd(), flags, 0, uintptr(allBytes), uintptr(allBytes), uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case m != waiting && (errors.Is(err, syscall.Errno(violation)) || errors.Is(err, syscall.Errno(pending))):
		return ErrLocked
	}
	return err
}

func unlock(f *os.File) error {
	var at syscall.Overlapped
	ok, _, err := unlockFileEx.Call(f.Fd(), 0, uintptr(allBytes), uintptr(allBytes), uintptr(unsafe.Pointer(&at)))
	if ok != 0 {
		return nil
	}
	return err
}
