package tasks

import "syscall"

// dieWithParent makes the kernel kill the program when Ebb dies, in any way.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
