//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestServeReadsPipe: SIGTERM ends ebb serve while it waits for a pipe in place of a definition, of keys or of a certificate.
//
// Attack (Keys, certificates and settings): A pipe as definition, keys or certificate.
// Result: `ebb serve` waits for it until SIGTERM.
func TestServeReadsPipe(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"definition":  {"--listen", "off"},
		"keys":        {"--keys"},
		"certificate": {"--tls-key", "/dev/null", "--tls-cert"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			var said bytes.Buffer
			cmd := exec.Command("ebb", append(append([]string{"serve", "--dsn", filepath.Join(dir, "db")}, args...), pipe)...)
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // which waits until it is read
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = writer.Close() }()
			kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
			defer kill.Stop()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
				t.Errorf("it ended with %v\n%s", err, &said)
			}
		})
	}
}
