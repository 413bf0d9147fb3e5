package tasks_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
)

// unsupervised makes the test's binary run programs as a process that does not call Supervise.
const unsupervised = "TASKS_UNSUPERVISED"

// childFolder makes the test's binary run ./task.sh of that folder, and report how it ended.
const childFolder = "TASKS_CHILD"

// childFence is the fence of the calls of such a process.
const childFence = 5

// A scope is a host that names runs, as the engine does, and logs.
type scope struct {
	atom.Host // nil

	name string
	log  hclog.Logger
}

func (s scope) Scope() string { return s.name }

func (s scope) Logger() hclog.Logger { return s.log }

func beChild(dir string) int {
	body, err := (&tasks.Registry{Dir: dir, Grace: time.Minute}).Task("exec:./task.sh")
	if err == nil {
		call := &atom.Call{Run: "run", Path: "path", Fence: childFence}
		ctx := atom.WithHost(context.Background(), call, scope{name: dir})
		_, err = body.Execute(ctx, atom.Single(atom.Null))
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, failure(err).Code) // the parent may have ended
		return 1
	}
	return 0
}

func TestMain(m *testing.M) {
	if os.Getenv(unsupervised) == "" {
		tasks.Supervise()
	}
	if os.Getenv(childFolder) != "" {
		os.Exit(beChild(os.Getenv(childFolder)))
	}
	goleak.VerifyTestMain(m)
}

// calling returns the context that the engine makes for a call.
func calling(t *testing.T, call atom.Call) context.Context {
	t.Helper()
	return atom.WithCall(t.Context(), &call)
}

// script writes a shell program.
func script(t *testing.T, path, text string) {
	t.Helper()
	// A program that another goroutine forks meanwhile would hold the file open for writing. A file that is open for
	// writing cannot be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// failure returns the stored form of an error.
func failure(err error) *atom.Failure {
	if err == nil {
		return nil
	}
	return atom.NewFailure("", 0, err)
}
