//go:build unix

package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/sdnotify"
)

// TestSupervisor tells a supervisor how a process fares, over the socket that
// systemd would have made.
func TestSupervisor(t *testing.T) {
	t.Parallel()
	socket, hear := notifySocket(t)
	env := map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "2000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())}
	v := sdnotify.FromEnvironment(func(name string) string { return env[name] })
	if v.Every != time.Millisecond {
		t.Errorf("it wants to hear every %v", v.Every)
	}
	ctx, stop := context.WithCancel(t.Context())
	looks, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		v.Attend(ctx, func(context.Context) error {
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

	// A supervisor that does not listen, or that supervises another process, gets no message.
	env["WATCHDOG_PID"] = "1"
	if v := sdnotify.FromEnvironment(func(name string) string { return env[name] }); v.Every != 0 {
		t.Errorf("it wants to hear every %v of another process", v.Every)
	}
	sdnotify.Manager{}.Attend(t.Context(), nil)
	sdnotify.Manager{Socket: socket + "-nobody"}.Tell("READY=1")
}

// TestSupervised: a process of ebb serve tells systemd what the unit makes it wait for.
func TestSupervised(t *testing.T) {
	t.Parallel()
	socket, hear := notifySocket(t)
	v := newVictim(t, "steps.asl.json")
	cmd := v.ebb("NOTIFY_SOCKET="+socket, "serve", "--listen", "off")
	cmd.Env = append(cmd.Env, "WATCHDOG_USEC=2000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	for i, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := hear(); got != want {
			t.Fatalf("word %d is %q, want %q", i, got, want)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	got := hear()
	for got == "WATCHDOG=1" {
		got = hear()
	}
	if err := cmd.Wait(); got != "STOPPING=1" || err != nil {
		t.Errorf("at its end it says %q, and ends with %v", got, err)
	}
}

// notifySocket returns a socket as systemd makes it, and what hears on it.
func notifySocket(t *testing.T) (path string, hear func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ebb") //nolint:usetesting // a path that is short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return path, func() string {
		t.Helper()
		buf := make([]byte, 100)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}
