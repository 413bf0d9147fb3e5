//go:build !linux

package enginebench

import "time"

// Where the process cannot be asked, its CPU time shows as 0 and its memory as
// not known.

func cpuTime() time.Duration { return 0 }

func peakRSS() Figure { return unknown }

func resetPeak() {}
