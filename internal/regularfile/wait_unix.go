//go:build unix

package regularfile

import "syscall"

// dontWait opens a named pipe even if no other process has it open.
const dontWait = syscall.O_NONBLOCK
