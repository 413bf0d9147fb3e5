package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/longtest"
)

// TestServeUnderAttack holds open 1,000 connections that pipeline requests and read
// nothing, 1,000 incomplete heads, and 1,000 large bodies, sent slowly or complete, against
// a real server. Meanwhile /livez answers each new connection within one second, and the
// server's memory stays below 512 MiB. Connections that the server cuts off come again.
//
// Attack (HTTP server): 1,000 each of pipelined `GET /livez` without reading, incomplete heads, and large slow or
// complete bodies, at once and reconnecting.
// Result: At the limit, cuts off the client that it waited for longest. With spare CPU, `/livez` answers within 1 s.
// Memory stays below 512 MiB.
//
// Attack (HTTP server): A request that outlasts the server's stop.
// Result: Cut off after 5 s; the exit status stays.
func TestServeUnderAttack(t *testing.T) { //nolint:tparallel // the one attack after the other
	t.Parallel()
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Max < 4000 {
		t.Skipf("needs 4,000 open files, this machine allows %d", files.Max)
	}
	for name, withKeys := range map[string]bool{"with keys": true, "without keys": false} {
		t.Run(name, func(t *testing.T) {
			if !withKeys {
				longtest.Needs(t) // the same limits, one guard less
			}
			v := newVictim(t, "steps.asl.json")
			var flags []string
			if withKeys {
				file := filepath.Join(v.dir, "keys")
				if err := os.WriteFile(file, []byte("me "+rightKey+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				flags = []string{"--keys", file}
			}
			server, address := v.serves(t, flags...)
			underAttack(t, v, server.Process.Pid, address)
			if err := server.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			if err := server.Wait(); err != nil {
				t.Errorf("it was told to stop, and exited with %v", err)
			}
			t.Logf("the server used %v and %v of the processor", server.ProcessState.UserTime(), server.ProcessState.SystemTime())
		})
	}
}

// leastProbes are answered during the attack.
const leastProbes = 10

// underAttack attacks a server, and judges it.
func underAttack(t *testing.T, v *victim, pid int, address string) {
	t.Helper()
	within := promised(t)
	attacker := v.process("attacker", "ATTACKED="+address)
	said, err := attacker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := attacker.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	var told []byte
	go func() {
		defer close(over)
		told, _ = io.ReadAll(said)
		_ = attacker.Wait() // its output is checked
	}()
	var took []time.Duration
	for attacked := true; attacked; {
		took = append(took, probe(t, address))
		pause := time.NewTimer(20 * time.Millisecond)
		select {
		case <-over:
			attacked = false
		case <-pause.C:
		}
	}
	slices.Sort(took)
	probes, worst := len(took), took[len(took)-1]
	within = max(within, promised(t))
	peak := peakMemory(t, pid)
	t.Logf("%d probes, half of them took less than %v, the slowest %v, where %v is allowed; the server had %d MiB; connections: %q",
		probes, took[probes/2], worst, within, peak, told)
	if worst > within || probes < leastProbes {
		t.Errorf("%d probes, the slowest of %v; want %d, and %v at most", probes, worst, leastProbes, within)
	}
	if peak >= 512 {
		t.Errorf("the server had %d MiB; want less than 512", peak)
	}
	var each [attackKinds]int
	if _, err := fmt.Sscan(string(told), &each[0], &each[1], &each[2], &each[3]); err != nil ||
		each[0] < attackers || each[1] < attackers || each[2]+each[3] < attackers {
		t.Errorf("the attacker said %q, %v; want 1,000 connections of each kind", told, err)
	}
}

// promised returns how long a probe may take: a second, where nothing else runs. Where work
// takes n times as long as it would alone, the server and its attacker get as much less of
// the processor, and the second is as much longer, twice, up to 15 seconds.
func promised(t *testing.T) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
			t.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	const work = 200 * time.Millisecond
	began := time.Now()
	for before := used(); used()-before < work; {
		runtime.Gosched()
	}
	slower := float64(time.Since(began)) / float64(work)
	if slower < 1.5 {
		return time.Second
	}
	return min(time.Duration(2*slower*float64(time.Second)), 15*time.Second)
}

// serves starts ebb serve, and returns where it listens.
func (v *victim) serves(t *testing.T, flags ...string) (server *exec.Cmd, address string) {
	t.Helper()
	server = v.ebb("EBB_LOG_LEVEL=off", append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() }) // it may have ended
	lines := bufio.NewReader(said)
	first, err := lines.ReadString('\n')
	address = regexp.MustCompile(`https?://(\S+)`).FindString(first)
	if err != nil || address == "" {
		t.Fatalf("it said %q (%v)", first, err)
	}
	go func() { _, _ = io.Copy(t.Output(), lines) }() // what else it says
	_, address, _ = strings.Cut(address, "://")
	return server, address
}

// probe asks for /livez, each time on a connection of its own, and returns how long it took
// until there was an answer. Where the machine gives the probe no time to send its request,
// the server may cut its connection to admit another. Then it asks again, within the same time.
func probe(t *testing.T, address string) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		answer, err := exchange(t.Context(), address, "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if errors.Is(err, syscall.ECONNRESET) && time.Since(began) < time.Minute {
			continue
		}
		if err != nil || !strings.HasPrefix(answer, "HTTP/1.1 200 ") || !strings.HasSuffix(answer, "ok\n") {
			t.Errorf("/livez: %q, %v, after %v", answer, err, time.Since(began))
		}
		return time.Since(began)
	}
}

// exchange sends a text on a connection of its own, and returns all that comes back.
func exchange(ctx context.Context, address, text string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, text) // it may be answered before all is sent
	}()
	defer func() { _ = conn.Close(); <-sent }()
	answer, err := io.ReadAll(conn)
	if errors.Is(err, syscall.ECONNRESET) && len(answer) > 0 {
		err = nil // the rest of the request was not wanted
	}
	return string(answer), err
}

// peakMemory returns the most memory that a process had, in MiB.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}
