package enginebench

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// cpuTime returns the CPU time of the process, in user mode and kernel, over all threads.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakRSS returns the peak memory of the process since resetPeak, in MB.
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

// resetPeak resets the peak of peakRSS. If the system does not allow this, the peak is that since the process started.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
