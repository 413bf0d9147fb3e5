//go:build unix

package engine_test

import (
	"syscall"
	"time"
)

// cpuTime returns how long the process has computed.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
