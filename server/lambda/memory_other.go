//go:build !linux

package lambda

// residentMB knows no memory: only Linux has /proc.
func residentMB(int) (megabytes int, known bool) { return 0, false }
