//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"os"
	"syscall"
)

func lock(f *os.File, m mode) error {
	err := flock(f, [...]int{
		waiting: syscall.LOCK_EX,
		trying:  syscall.LOCK_EX | syscall.LOCK_NB,
		shared:  syscall.LOCK_SH | syscall.LOCK_NB,
	}[m])
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

func unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

// flock repeats the call if a signal interrupts it.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
