package main

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"
)

// A supervisor is told how this process fares, as systemd wants it of services of
// Type=notify: sd_notify(3), which is a word sent to a socket.
type supervisor struct {
	socket string        // "" when there is none
	every  time.Duration // how often it wants to hear; 0 is never
}

// supervisorOf returns the supervisor of this process, as the environment variables name it.
func supervisorOf(getenv func(string) string) supervisor {
	v := supervisor{socket: getenv("NOTIFY_SOCKET")}
	pid := getenv("WATCHDOG_PID")
	if micros, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64); err == nil && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		v.every = time.Duration(micros) * time.Microsecond / 2 //nolint:mnd // twice as often as would be too late
	}
	return v
}

// tell sends a state, such as READY=1. A supervisor that does not hear is no reason
// to stop.
func (v supervisor) tell(state string) {
	if v.socket == "" {
		return
	}
	const patience = 30 * time.Second // for a supervisor that does not read
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: v.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	_, _ = conn.Write([]byte(state))
	_ = conn.Close()
}

// attend tells that the process is ready as soon as it is, that it lives until ctx
// ends, then that it stops.
func (v supervisor) attend(ctx context.Context, ready func(context.Context) error) {
	if v.socket == "" {
		return
	}
	const look = 50 * time.Millisecond
	for ready(ctx) != nil {
		if !pause(ctx, look) {
			return
		}
	}
	v.tell("READY=1")
	for v.every > 0 && pause(ctx, v.every) {
		v.tell("WATCHDOG=1")
	}
	<-ctx.Done()
	v.tell("STOPPING=1")
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
