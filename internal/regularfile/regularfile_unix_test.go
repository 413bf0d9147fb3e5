//go:build unix

package regularfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ebbflow/ebb/internal/regularfile"
)

// TestOnlyRegularFiles: only regular files within the folder are read, and no file makes the reader wait.
func TestOnlyRegularFiles(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	dir := filepath.Join(outer, "in")
	for file, text := range map[string]string{"secret": "hunter2", "in/file": "12345", "in/sub/file": "sub"} {
		name := filepath.Join(outer, file)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Skip(err) // the folder's name is too long
	}
	defer func() { _ = listener.Close() }()
	for what, err := range map[string]error{
		"pipe":    syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		"inside":  os.Symlink("sub/file", filepath.Join(dir, "inside")),
		"outside": os.Symlink("../secret", filepath.Join(dir, "outside")),
		"rooted":  os.Symlink("/dev/zero", filepath.Join(dir, "rooted")),
		"piped":   os.Symlink("pipe", filepath.Join(dir, "piped")),
		"loop":    os.Symlink("loop", filepath.Join(dir, "loop")),
	} {
		if err != nil {
			t.Fatal(what, err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for name, want := range map[string]string{"file": "12345", "inside": "sub", "sub/../file": "12345"} {
		if text, err := regularfile.Read(root, name, 5); string(text) != want || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for name, want := range map[string]error{
		"pipe": regularfile.ErrNotRegular, "piped": regularfile.ErrNotRegular, "socket": regularfile.ErrNotRegular,
		"sub": regularfile.ErrNotRegular,
		".":   regularfile.ErrNotRegular, "gone": fs.ErrNotExist, "outside": nil, "rooted": nil, "loop": nil,
		"../secret":   nil,
		"/etc/passwd": nil,
	} {
		text, err := regularfile.Read(root, name, 5)
		if err == nil || want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), name+" ") {
			t.Errorf("%s: %q, %v; want %v", name, text, err, want)
		}
	}
	if _, err := regularfile.Read(root, "file", 4); !errors.Is(err, regularfile.ErrTooLarge) {
		t.Errorf("a file that is too large: %v", err)
	}
}
