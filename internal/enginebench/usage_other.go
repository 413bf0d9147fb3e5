//go:build !linux

package enginebench

import "time"

// On other systems, the CPU time is 0 and the memory unknown.

func cpuTime() time.Duration { return 0 }

func peakRSS() Figure { return unknown }

func resetPeak() {}
