package enginebench

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// cpuTime returns what the process has used, in user and kernel, on all threads.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakRSS returns the most memory the process had since resetPeak, in MB.
func peakRSS() Figure {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return unknown
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	text, _, _ := bytes.Cut(rest, []byte("kB"))
	kib, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	if err != nil {
		return unknown
	}
	return Figure(kib / 1000 * 1.024)
}

// resetPeak lets peakRSS begin anew. Where that is not allowed it goes on since
// the process began.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
