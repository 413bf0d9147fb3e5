package interop_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// build builds ebb from the checkout, once for all tests, and returns its file.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ebb-")
	if err != nil {
		return "", err
	}
	built = dir
	file := filepath.Join(dir, "ebb")
	cmd := exec.Command("go", "build", "-o", file, "./cmd/ebb")
	cmd.Dir = filepath.Join("..", "..", "..")
	work, err := filepath.Abs(filepath.Join(cmd.Dir, "go.work"))
	if err != nil {
		return "", err
	}
	cmd.Env = append(os.Environ(), "GOWORK="+work)
	cmd.Stderr = os.Stderr
	return file, cmd.Run()
})

// built is the folder of the command.
var built string

// TestMain ends the browser, and removes the command and the databases.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range atEnd {
		stop()
	}
	stopBrowser()
	if built != "" {
		_ = os.RemoveAll(built) // a temporary folder
	}
	os.Exit(code)
}

// atEnd is called when all tests have ended.
var atEnd []func()

// command runs ebb in a folder and returns its output. A run that failed, or that was undone, is not an error.
func command(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := try(t, dir, args...)
	if err != nil {
		t.Fatalf("ebb %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// try is command, for what may be refused.
func try(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), file, args...)
	cmd.Dir = dir
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains([]int{1, 3, 4}, exit.ExitCode()) {
		return string(out), nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, problems.String())
	}
	return string(out), nil
}

// A server is a process of ebb that serves the console.
type server struct {
	address string // such as http://127.0.0.1:41234
	process *exec.Cmd
}

// serve starts a server in a folder with the database ebb.db, and waits until it listens.
func serve(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	return serveAt(t, dir, "127.0.0.1:0", args...)
}

// serveAt is serve, at an address.
func serveAt(t *testing.T, dir, address string, args ...string) *server {
	t.Helper()
	if len(args) == 0 {
		args = []string{"serve"}
	}
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{process: exec.Command(file, append(args, "--listen", address)...)}
	s.process.Dir = dir
	output, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "http://"); ok {
			at, _, _ = strings.Cut(strings.Fields(at)[0], "/")
			s.address = "http://" + at
			go func() { _, _ = io.Copy(io.Discard, output) }() // it ends with the process
			return s
		}
		t.Log(lines.Text())
	}
	s.kill()
	t.Fatal("the server did not say where it listens")
	return nil
}

// kill kills the process.
func (s *server) kill() {
	_ = s.process.Process.Kill() // it may have ended
	_ = s.process.Wait()         // it was killed
}
