//go:build unix

package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestSupervisor tells a supervisor how a process fares, over the socket that
// systemd would have made.
func TestSupervisor(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ebb") //nolint:usetesting // a path that is short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket := filepath.Join(dir, "notify")
	heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = heard.Close() }()
	env := map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())}
	v := supervisorOf(func(name string) string { return env[name] })
	if v.every != time.Millisecond {
		t.Errorf("it wants to hear every %v", v.every)
	}
	hear := func() string {
		t.Helper()
		buf := make([]byte, 100)
		n, err := heard.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	ctx, stop := context.WithCancel(t.Context())
	looks, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		v.attend(ctx, func(context.Context) error {
			if looks++; looks < 3 {
				return errors.New("not yet")
			}
			return nil
		})
	}()
	for i, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := hear(); got != want {
			t.Fatalf("word %d is %q, want %q", i, got, want)
		}
	}
	stop()
	for got := hear(); got != "STOPPING=1"; got = hear() {
		if got != "WATCHDOG=1" {
			t.Fatalf("it says %q", got)
		}
	}
	<-done
	if looks != 3 {
		t.Errorf("it said that it was ready after %d looks", looks)
	}

	// One who does not listen, or is somebody else's, is told nothing.
	env["WATCHDOG_PID"] = "1"
	if v := supervisorOf(func(name string) string { return env[name] }); v.every != 0 {
		t.Errorf("it wants to hear every %v of another process", v.every)
	}
	supervisor{}.attend(t.Context(), nil)
	supervisor{socket: filepath.Join(dir, "nobody")}.tell("READY=1")
}
