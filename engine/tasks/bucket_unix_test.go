//go:build unix

package tasks_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ebbflow/ebb/engine/tasks"
)

// TestBucketsHoldRegularFiles: an object is a regular file. A named pipe neither blocks a reader nor accepts a write.
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

// TestBucketModes: new files of a bucket have one mode, with any umask: for the user alone, or the folder's.
//
// Attack (Files): Another user reads the results of a distributed Map under a umask of 022 or 0.
// Result: Modes 0600 and 0700, or with `--file-mode folder` the bucket folder's.
func TestBucketModes(t *testing.T) { //nolint:paralleltest // it changes the umask
	for _, umask := range []int{0, 0o022, 0o077} {
		for name, c := range map[string]struct {
			bucket          func(string) tasks.Bucket
			of, file, inner fs.FileMode
		}{
			"private":       {tasks.Folder, 0o777, 0o600, 0o700},
			"of the folder": {tasks.SharedFolder, 0o770, 0o660, 0o770},
			"of all":        {tasks.SharedFolder, 0o777, 0o666, 0o777},
		} {
			dir := t.TempDir()
			if err := os.Chmod(dir, c.of); err != nil {
				t.Fatal(err)
			}
			before := syscall.Umask(umask)
			b := c.bucket(dir)
			err := errors.Join(b.Write("a/b/c.json", 0, "xy"), b.Write("a/b/c.json", 2, "z"), b.Write("d", 0, "x"))
			syscall.Umask(before)
			if err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]fs.FileMode{"a": c.inner, "a/b": c.inner, "a/b/c.json": c.file, "d": c.file} {
				info, err := os.Stat(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				if got := info.Mode().Perm(); got != want {
					t.Errorf("%s, umask %o: %s has the mode %o, want %o", name, umask, file, got, want)
				}
			}
			if text, err := os.ReadFile(filepath.Join(dir, "a/b/c.json")); err != nil || string(text) != "xyz" {
				t.Errorf("%q, %v", text, err)
			}
		}
	}
}
