//go:build unix

package tasks_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ebbflow/ebb/engine/tasks"
)

// TestBucketsHoldRegularFiles: an object is a regular file. A named pipe neither blocks who reads it nor takes what is written.
func TestBucketsHoldRegularFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	b := tasks.Folder(dir)
	for _, key := range []string{"pipe", "link", "."} {
		if _, err := b.Open(key); err == nil {
			t.Errorf("%s is opened", key)
		}
		if err := b.Write(key, 0, "x"); err == nil {
			t.Errorf("%s is written", key)
		}
	}
	if err := b.Write("object", 0, "x"); err != nil {
		t.Error(err)
	}
}
