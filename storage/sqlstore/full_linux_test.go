package sqlstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestDiskFullForReal fills a small disk. The commit that does not fit is refused as a whole. Reading continues, and so
// does writing once there is space.
func TestDiskFullForReal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("no right to mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		// A process that another test starts at this moment may hold copies of the files until it executes.
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	write(t, ballast, strings.Repeat("x", 2_200_000))
	file := filepath.Join(dir, "runs.db")
	s := open(t, file)
	w := &told{runs: map[string]int64{}}
	full := w.work(s, 100, 10)
	if full == nil || !strings.Contains(full.Error(), "the disk is full") || !strings.Contains(full.Error(), file) ||
		errors.Is(full, storage.ErrUnsure) || errors.Is(full, sqlstore.ErrBroken) {
		t.Errorf("a commit on a full disk: %v", full)
	}
	if !errors.Is(full, storage.ErrUnavailable) || s.Health().Fault != "disk_full" || s.CheckWrite(t.Context()) == nil {
		t.Errorf("the state of the store: %+v", s.Health())
	}
	for run, n := range w.copy() {
		if strings.HasPrefix(run, line("")) {
			continue
		}
		if got := whole(t, s, run); got != n {
			t.Errorf("%s stands at %d, want %d", run, got, n)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := w.work(s, 1, 3); err != nil {
		t.Errorf("once there is space: %v", err)
	}
	shut(t, s)
	found(t, dir, w.copy())
}
