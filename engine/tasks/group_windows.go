package tasks

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"unsafe"
)

// execute runs a command that was made with ctx to its end. Windows cannot signal process groups, so the end of ctx
// kills the program.
func execute(_ context.Context, cmd *exec.Cmd, started func(pid int)) (exit, error) {
	err := cmd.Start()
	if err == nil {
		started(cmd.Process.Pid)
		err = cmd.Wait()
	}
	if failure, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit{status: failure.ExitCode()}, nil
	}
	return exit{}, err
}

var (
	kernel32                 = syscall.NewLazyDLL("kernel32.dll")
	createJobObject          = kernel32.NewProc("CreateJobObjectW")
	setInformationJobObject  = kernel32.NewProc("SetInformationJobObject")
	assignProcessToJobObject = kernel32.NewProc("AssignProcessToJobObject")
)

const (
	extendedLimitInformation = 9      // JobObjectExtendedLimitInformation
	killOnJobClose           = 0x2000 // JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
)

// extendedLimits is JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
type extendedLimits struct {
	perProcessUserTime, perJobUserTime int64
	flags                              uint32
	minWorkingSet, maxWorkingSet       uintptr
	activeProcesses                    uint32
	affinity                           uintptr
	priorityClass, schedulingClass     uint32
	_                                  [6]uint64 // IO_COUNTERS
	processMemory, jobMemory           uintptr
	peakProcessMemory, peakJobMemory   uintptr
}

// prepareSupervision puts this process into a job that ends when its last handle is closed.
// This process holds that handle, and never closes it. Where the system refuses, nothing changes.
func prepareSupervision() bool {
	if supervising.Load() {
		return false
	}
	job, _, _ := createJobObject.Call(0, 0)
	if job == 0 {
		return false
	}
	limits := extendedLimits{flags: killOnJobClose}
	if ok, _, _ := setInformationJobObject.Call(job, extendedLimitInformation, uintptr(unsafe.Pointer(&limits)),
		unsafe.Sizeof(limits)); ok == 0 {
		return false
	}
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return false
	}
	ok, _, _ := assignProcessToJobObject.Call(job, uintptr(self))
	return ok != 0
}
