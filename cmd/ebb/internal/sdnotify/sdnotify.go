// Package sdnotify reports the state of this process to systemd, as services of Type=notify do. See sd_notify(3): an
// environment variable names a socket, which receives a datagram.
package sdnotify

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"
)

// A Manager is the service manager that started this process. The methods of the zero Manager do nothing.
type Manager struct {
	Socket string        // address of its socket
	Every  time.Duration // how often it expects a sign of life; 0 means never
}

// FromEnvironment returns the manager that the environment variables name.
func FromEnvironment(getenv func(string) string) Manager {
	v := Manager{Socket: getenv("NOTIFY_SOCKET")}
	pid := getenv("WATCHDOG_PID")
	if micros, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil &&
		(pid == "" || pid == strconv.Itoa(os.Getpid())) {
		v.Every = time.Duration(micros) * time.Microsecond / 2 //nolint:mnd // twice as often as would be too late
	}
	return v
}

// Tell sends a state, such as READY=1. A manager that does not listen is not an error.
func (v Manager) Tell(state string) {
	if v.Socket == "" {
		return
	}
	const patience = 30 * time.Second // for a manager that does not read
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: v.Socket, Net: "unixgram"})
	if err != nil {
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	_, _ = conn.Write([]byte(state))
	_ = conn.Close()
}

// Attend reports that the process is ready as soon as ready returns nil, that it lives until ctx ends, and then that it
// stops.
func (v Manager) Attend(ctx context.Context, ready func(context.Context) error) {
	if v.Socket == "" {
		return
	}
	const look = 50 * time.Millisecond
	for ready(ctx) != nil {
		if !pause(ctx, look) {
			return
		}
	}
	v.Tell("READY=1")
	for v.Every > 0 && pause(ctx, v.Every) {
		v.Tell("WATCHDOG=1")
	}
	<-ctx.Done()
	v.Tell("STOPPING=1")
}

// pause waits for a while; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
