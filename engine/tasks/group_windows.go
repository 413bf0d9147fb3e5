package tasks

import (
	"os"
	"os/exec"
)

// A group is a program; Windows has no process groups that can be signalled.
type group struct{ cmd *exec.Cmd }

func inGroup(cmd *exec.Cmd) group { return group{cmd} }

func (g group) run() error { return g.cmd.Run() }

// terminate kills the program: there is no way to ask it.
func (g group) terminate() error { return g.cmd.Process.Kill() }

func signalled(*os.ProcessState) string { return "" }
