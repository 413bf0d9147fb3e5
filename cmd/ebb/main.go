package main

import (
	"context"
	"log" //nolint:depguard // packages use it: what they say goes to the log
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // schedules name time zones, also where the system has none

	"github.com/ebbflow/ebb/cmd/ebb/internal/command"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine/tasks"
)

func main() {
	tasks.Supervise()
	// Without this, the first write to a pipe that its reader has closed would kill the process in the middle of a run.
	// Programs that it starts have the signal's usual effect, which they would not if it were ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s := session.New(os.Stdin, os.Stdout, os.Stderr)
	log.SetFlags(0)
	log.SetOutput(session.StandardLog{Session: s})
	os.Exit(command.Execute(context.Background(), s, os.Args[1:]))
}
