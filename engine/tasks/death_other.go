//go:build unix && !linux

package tasks

import "syscall"

// dieWithParent does nothing: only Linux can tie a program's life to another's.
func dieWithParent(*syscall.SysProcAttr) {}
