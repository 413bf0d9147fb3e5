package tasks

import "syscall"

// dieWithParent has the kernel kill the program when Ebb dies, however it dies.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
