//go:build unix

package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestKeysNeverWait: a file of keys that becomes a pipe while requests are answered holds none of them up, and one that was a
// pipe from the beginning, as a shell's <(…) makes it, is read once.
//
// Attack (Keys, certificates and settings): A named pipe replaces the key file while `ebb serve` runs.
// Result: The old keys stay; the log says why.
func TestKeysNeverWait(t *testing.T) {
	t.Parallel()
	pipe := func(t *testing.T) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "keys")
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	knows := func(t *testing.T, waiting *keyring) {
		t.Helper()
		waiting.mu.Lock()
		waiting.looked = time.Now().Add(-2 * keysAge)
		waiting.mu.Unlock()
		known := make(chan bool, 1)
		go func() {
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Header.Set("Authorization", "Bearer "+rightKey)
			known <- waiting.of(r) != nil
		}()
		select {
		case is := <-known:
			if !is {
				t.Error("the key is not known any more")
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a request waits for the file of keys")
		}
	}
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(file, []byte("a "+rightKey), 0o600); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		waiting, err := newKeyring(file, hclog.New(&hclog.LoggerOptions{Output: &said}))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(pipe(t), file); err != nil {
			t.Fatal(err)
		}
		knows(t, waiting)
		if !strings.Contains(said.String(), "no regular file") {
			t.Errorf("it says %q", said.String())
		}
	})
	t.Run("from the beginning", func(t *testing.T) {
		t.Parallel()
		file := pipe(t)
		wrote := make(chan error, 1)
		go func() { wrote <- os.WriteFile(file, []byte("a "+rightKey), 0o600) }()
		waiting, err := newKeyring(file, hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		if err := <-wrote; err != nil {
			t.Fatal(err)
		}
		knows(t, waiting)
	})
}

// TestEndlessCertificate: a certificate or its key that has no end is refused.
//
// Attack (Keys, certificates and settings): A certificate or key that is endless, no file, missing, mismatched or
// swapped.
// Result: Refused with 2, before opening the database. Restart to renew a certificate.
// Also: ; others by hand.
func TestEndlessCertificate(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{Cert: "/dev/zero", CertKey: "/dev/zero"}); err == nil || !strings.Contains(err.Error(), "/dev/zero is larger than") {
		t.Errorf("it says %v", err)
	}
}
