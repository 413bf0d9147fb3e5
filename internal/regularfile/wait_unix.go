//go:build unix

package regularfile

import "syscall"

// dontWait opens a named pipe that no other process has open.
const dontWait = syscall.O_NONBLOCK
