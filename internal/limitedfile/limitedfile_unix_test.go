//go:build unix

package limitedfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ebbflow/ebb/internal/limitedfile"
)

// TestNamedPipe reads a named pipe to which a process writes, and one to which none writes: it does not wait for ever.
func TestNamedPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("hello"), 0o600) }()
	text, err := limitedfile.Read(pipe, 5)
	if err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if _, err := limitedfile.Read(pipe, 5); err == nil || !strings.Contains(err.Error(), "pipe cannot be read: no process writes to this named pipe") {
		t.Errorf("without a writer: %v", err)
	}
}
