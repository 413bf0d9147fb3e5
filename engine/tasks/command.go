package tasks

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
)

// RunCommand runs a command that was made with ctx to its end, with the guarantees of programs: see [Supervise]. When
// ctx ends, the command and all processes that it started get SIGTERM, and SIGKILL after cmd.WaitDelay. RunCommand
// calls started with the ID of the command, or of a supervisor whose descendants are the processes of the command.
//
// How says how the command failed, such as "exit status 1" or "signal: killed". It is "" if the command succeeded, or
// did not start, which is an error.
func RunCommand(ctx context.Context, cmd *exec.Cmd, started func(pid int)) (how string, err error) {
	e, err := execute(ctx, cmd, started)
	switch {
	case e.signal != "":
		how = signalTexts[e.signal]
		if how == "" {
			how = strings.ToLower(e.signal)
		}
		how = "signal: " + how
	case e.status != 0:
		how = "exit status " + strconv.Itoa(e.status)
	}
	return how, err
}

// signalTexts are what people read of signals.
var signalTexts = map[string]string{
	"ABRT": "aborted", "BUS": "bus error", "FPE": "floating point exception", "ILL": "illegal instruction",
	"INT": "interrupt", "KILL": "killed", "SEGV": "segmentation fault", "TERM": "terminated",
}
