//go:build unix

package sqlstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: l})
}

// stoppedInTurn starts a process that is stopped in the middle of a commit.
func stoppedInTurn(t *testing.T, file string) *childtest.Process {
	t.Helper()
	p := start(t, "busy", file, "sqlstore.commit.before", "SQLSTORE_SIGNAL=STOP")
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the child did not stop: %v, %v", status, err)
	}
	return p
}

// names fails the test unless a text names a stopped process and what helps, where
// the system tells.
func names(t *testing.T, text string, pid int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	for _, want := range []string{fmt.Sprintf("process %d (", pid), "stopped (T)", fmt.Sprintf("kill -CONT %d", pid), fmt.Sprintf("kill -9 %d", pid)} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

// givesUp makes a write that cannot be made, with more and more time until it has come to
// wait for the turn, and returns its error.
func givesUp(t *testing.T, write func(context.Context) error) string {
	t.Helper()
	for patience := 10 * time.Millisecond; ; patience *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := write(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a write beside a process that is stopped in its turn: %v", err)
		}
		if strings.Contains(err.Error(), "no turn to write") {
			return err.Error()
		}
	}
}

// TestStoppedInTurn stops a process that has the turn to write. Every other process
// says which one is in the way, and can give up. When it continues, or is killed,
// the others write at once.
func TestStoppedInTurn(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, p *childtest.Process){
		"continued": func(_ *testing.T, p *childtest.Process) { p.Wake() },
		"killed":    func(_ *testing.T, p *childtest.Process) { p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "runs.db")
			var log logged
			s := open(t, file, sqlstore.Log(log.logger()))
			defer shut(t, s)
			p := stoppedInTurn(t, file)
			pid := p.Process.Pid
			names(t, givesUp(t, s.CheckWrite), pid) // a write beside a process that is stopped in its turn
			done := make(chan error, 2)
			for i := range 2 { // the second waits in the queue of this process
				go func() { done <- s.Create(t.Context(), storage.Run{ID: fmt.Sprint("r", i)}) }()
			}
			soon(t, "a word about who is in the way", func() bool { return strings.Contains(log.String(), "write.blocked") })
			names(t, log.String(), pid)
			names(t, givesUp(t, s.CheckWrite), pid)                                                            // a write in the queue
			names(t, givesUp(t, func(ctx context.Context) error { return sqlstore.TryWrite(ctx, file) }), pid) // a write by a process that looks
			end(t, p)
			for range 2 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			if err := errors.Join(s.CheckWrite(t.Context()), sqlstore.TryWrite(t.Context(), file)); err != nil {
				t.Error(err)
			}
			p.Kill()
			sound(t, file)
		})
	}
}

// TestCheckWriteWrites: the write that is tried reaches the log, and so the disk.
func TestCheckWriteWrites(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	defer shut(t, s)
	for range 3 {
		before, err := os.ReadFile(file + "-wal")
		must(t, err)
		must(t, s.CheckWrite(t.Context()))
		tried, err := os.ReadFile(file + "-wal")
		must(t, err)
		must(t, sqlstore.TryWrite(t.Context(), file))
		looked, err := os.ReadFile(file + "-wal")
		must(t, err)
		if bytes.Equal(before, tried) || bytes.Equal(tried, looked) {
			t.Error("nothing was written")
		}
	}
}

// TestTurnGivenUp gives up waits for the turn again and again, while other writers get it.
// The queue keeps no turn that no write wants any more, and no two writers write at once.
func TestTurnGivenUp(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	impatient, patient := open(t, file), open(t, file)
	defer shut(t, impatient)
	defer shut(t, patient)
	claim := owned(t, patient, "patient")
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range int64(300) {
			if err := patient.Commit(t.Context(), claim, checkpoint(i)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	wrote, gaveUp := 0, 0
	for i := range 300 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%10)*100*time.Microsecond)
		err := impatient.CheckWrite(ctx)
		cancel()
		switch {
		case err == nil:
			wrote++
		case errors.Is(err, context.DeadlineExceeded):
			gaveUp++
		default:
			t.Fatal(err)
		}
	}
	wg.Wait()
	t.Logf("%d writes, %d given up", wrote, gaveUp)
	if got := whole(t, patient, "patient"); got != 300 {
		t.Errorf("the run stands at %d", got)
	}
	if err := errors.Join(impatient.CheckWrite(t.Context()), patient.CheckWrite(t.Context())); err != nil {
		t.Error(err)
	}
}
