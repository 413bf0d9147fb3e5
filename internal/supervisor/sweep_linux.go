package supervisor

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

const (
	setSubreaper  = 36         // PR_SET_CHILD_SUBREAPER
	setName       = 15         // PR_SET_NAME
	closeRange    = 436        // the system call close_range
	closeOnExec   = 4          // CLOSE_RANGE_CLOEXEC
	waitAll       = 0x40000000 // __WALL: also children that send another signal than SIGCHLD
	maxDescriptor = ^uint32(0)
)

// becomeSupervisor makes this process the parent of descendants that lose their parent, and keeps its
// descriptors from the program.
func becomeSupervisor() {
	process(setSubreaper, 1)
	// The process gets its own name, so that it survives a kill by the name of Ebb's binary.
	name := [16]byte{}
	copy(name[:], Marker)
	process(setName, uintptr(unsafe.Pointer(&name))) //nolint:gosec // the kernel reads 16 bytes
	_, _, errno := syscall.RawSyscall(closeRange, ControlFD, uintptr(maxDescriptor), closeOnExec)
	if errno != 0 { // before Linux 5.11
		syscall.CloseOnExec(ControlFD)
		syscall.CloseOnExec(NameFD)
	}
}

// process sets an attribute of this process that every kernel supported by Go has.
func process(option, value uintptr) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, option, value, 0) //nolint:dogsled // see above
}

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// terminate sends SIGTERM to the program's group and to the processes that the program started outside of it. It finds
// all of them before it sends a signal. Otherwise it would miss the children of a program that ends, which get another
// parent.
func (s *supervision) terminate() {
	var outside []int
	descendants(os.Getpid(), func(pid int) {
		if group, err := syscall.Getpgid(pid); err != nil || group != s.program || s.ended.Load() {
			outside = append(outside, pid)
		}
	})
	if !s.ended.Load() {
		_ = syscall.Kill(-s.program, syscall.SIGTERM)
	}
	for _, pid := range outside {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
}

// sweep sends SIGKILL to all descendants. It returns how many receive it for the first time, and how many there are.
func (s *supervision) sweep() (killed, left int) {
	descendants(os.Getpid(), func(pid int) {
		left++
		// A group is killed as a whole, so that no process of it can start another meanwhile.
		if group, err := syscall.Getpgid(pid); err == nil && (group == s.program || group == pid) {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil && !s.known[pid] {
			s.known[pid] = true
			killed++
		}
	})
	return killed, left
}

// waitForGroup does nothing: a subreaper without children has no descendants.
func (s *supervision) waitForGroup() {}

// descendants calls do with each descendant of a process, parents first. It reads the children of a process before it
// calls do with the process, because they may have another parent afterwards.
func descendants(pid int, do func(pid int)) {
	children := childrenOf(pid)
	if pid != os.Getpid() {
		do(pid)
	}
	for _, child := range children {
		descendants(child, do)
	}
}

// childrenOf returns the children of all threads of a process, or none if the process is gone.
func childrenOf(pid int) []int {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	dir, err := os.Open(tasks)
	if err != nil {
		return nil
	}
	threads, _ := dir.Readdirnames(-1) // uses what was read before an error
	_ = dir.Close()                    // it was only read
	var children []int
	for _, thread := range threads {
		text, err := os.ReadFile(tasks + thread + "/children")
		if err != nil {
			continue
		}
		child := 0
		for _, c := range text {
			if c != ' ' {
				child = 10*child + int(c-'0')
				continue
			}
			children = append(children, child)
			child = 0
		}
	}
	return children
}
