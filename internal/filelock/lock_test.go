package filelock_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/internal/filelock"
)

// TestMain lets a test start this binary as another process, which holds a lock until its input ends.
func TestMain(m *testing.M) {
	if path := os.Getenv("FILELOCK_HOLD"); path != "" {
		l, err := filelock.Create(path, nil)
		if err != nil {
			os.Exit(1)
		}
		_, said := os.Stdout.WriteString("held\n")
		_, ended := io.Copy(io.Discard, os.Stdin)
		if errors.Join(said, ended, l.Close()) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func open(t *testing.T, path string) *filelock.Lock {
	t.Helper()
	l, err := filelock.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a test may have closed it
	return l
}

func TestExclusion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, path), open(t, path)
	if err := a.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := b.Try(); !errors.Is(err, filelock.ErrLocked) {
		t.Fatalf("Try of a held lock: %v", err)
	}
	var unlocking atomic.Bool
	locked := make(chan bool)
	go func() {
		if err := b.Lock(); err != nil {
			t.Error(err)
		}
		locked <- unlocking.Load()
	}()
	unlocking.Store(true)
	if err := a.Unlock(); err != nil {
		t.Fatal(err)
	}
	if !<-locked {
		t.Error("two held the lock")
	}
	if err := a.Try(); !errors.Is(err, filelock.ErrLocked) {
		t.Fatalf("Try of a held lock: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Try(); err != nil {
		t.Errorf("Try after the holder closed: %v", err)
	}
}

// TestKilledHolder shows that the lock of a killed process is free at once.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "FILELOCK_HOLD="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.StdinPipe(); err != nil { // kept open, so that it does not end by itself
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	if err := l.Try(); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("Try while another process holds the lock: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed, so it is an error
	if err := l.Try(); err != nil {
		t.Errorf("Try after the holder was killed: %v", err)
	}
}

// TestCreateBesideRemove lets many goroutines create and remove one lock file. Two never hold it at the same time.
func TestCreateBesideRemove(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	var holders atomic.Int64
	done := make(chan int)
	for range 4 {
		go func() {
			got := 0
			for range 300 {
				l, err := filelock.Create(path, nil)
				if errors.Is(err, filelock.ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					break
				}
				got++
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				holders.Add(-1)
				if err := l.Remove(); err != nil {
					t.Error(err)
				}
			}
			done <- got
		}()
	}
	got := 0
	for range 4 {
		got += <-done
	}
	if got == 0 {
		t.Error("nobody ever held the lock")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestNoFolder(t *testing.T) {
	t.Parallel()
	if _, err := filelock.Create(filepath.Join(t.TempDir(), "none", "lock"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	if _, err := filelock.Probe(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Probe of no file: %v", err)
	}
	holder := open(t, path)
	if err := holder.Lock(); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Probe(path); !errors.Is(err, filelock.ErrLocked) {
		t.Fatalf("Probe of a held lock: %v", err)
	}
	if err := holder.Unlock(); err != nil {
		t.Fatal(err)
	}
	var probes []*filelock.Lock
	for range 2 { // and do not count each other as holders
		p, err := filelock.Probe(path)
		if err != nil {
			t.Fatalf("Probe of a free lock: %v", err)
		}
		probes = append(probes, p)
	}
	if err := holder.Try(); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("Try while others look: %v", err)
	}
	for _, p := range probes {
		if err := p.Remove(); err != nil {
			t.Error(err)
		}
	}
}
