package dberr

import (
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"
)

// TestTroubleOfFiles: a system error about a file does not count as a server that cannot be reached.
func TestTroubleOfFiles(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENOENT, syscall.EACCES, syscall.ENOSPC} {
		err := &fs.PathError{Op: "open", Path: "ebb.db", Err: errno}
		if text := Failed("ebb.db", "open", err).Error(); strings.Contains(text, "server") || Cut(err) {
			t.Errorf("%v becomes %s", err, text)
		}
	}
	if err := (&net.OpError{Op: "read", Err: syscall.ECONNRESET}); !Cut(err) {
		t.Errorf("%v is not taken for a lost connection", err)
	}
}
