package tasks_test

import (
	"context"
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/atom"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// calling returns a context as the engine makes it for a call.
func calling(t *testing.T, call atom.Call) context.Context {
	t.Helper()
	return atom.WithCall(t.Context(), &call)
}

// script writes a shell program.
func script(t *testing.T, path, text string) {
	t.Helper()
	// A program that is forked meanwhile would hold the file open for writing,
	// and what is open for writing cannot be run.
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
