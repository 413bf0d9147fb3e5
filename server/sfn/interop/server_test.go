package interop_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// The key with which the clients sign.
const (
	region    = "eu-west-1"
	account   = "123456789012"
	accessKey = "AKIAIOSFODNN7EXAMPLE"
	secretKey = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	roleARN   = "arn:aws:iam::123456789012:role/ebb"
)

// within bounds each test.
const within = 8 * time.Minute

var (
	built sync.Once
	file  string
)

// command builds ebb from the checkout, once for all tests, and returns its file.
func command(t testing.TB) string {
	t.Helper()
	built.Do(func() {
		dir, err := os.MkdirTemp("", "ebb-")
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(dir, "ebb")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", file, "./cmd/ebb")
		build.Dir = filepath.Join("..", "..", "..")
		work, err := filepath.Abs(filepath.Join(build.Dir, "go.work"))
		if err != nil {
			t.Fatal(err)
		}
		build.Env = append(os.Environ(), "GOWORK="+work)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	})
	return file
}

// TestMain removes the command.
func TestMain(m *testing.M) {
	code := m.Run()
	if file != "" {
		_ = os.RemoveAll(filepath.Dir(file)) // a temporary folder
	}
	os.Exit(code)
}

// A server is an `ebb serve` that requires signatures.
type server struct {
	dir     string   // with the database and the keys
	address string   // such as http://127.0.0.1:41234
	more    []string // flags
	process *exec.Cmd
}

// serve starts a server on a database of its own.
func serve(t testing.TB, more ...string) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), address: "http://127.0.0.1:0", more: more}
	if err := os.WriteFile(filepath.Join(s.dir, "keys"), []byte(accessKey+" "+secretKey+" aws\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	return s
}

// start starts the process, again at the same address, and waits until it listens.
func (s *server) start(t testing.TB) {
	t.Helper()
	s.process = exec.Command(command(t), append([]string{
		"serve", "--dsn", "sqlite:" + filepath.Join(s.dir, "ebb.db"),
		"--listen", strings.TrimPrefix(s.address, "http://"), "--keys", filepath.Join(s.dir, "keys"),
		"--aws-region", region, "--aws-account", account, "--log-level", "warn",
	}, s.more...)...)
	output, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.kill(t) })
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), " on http://"); ok {
			s.address = "http://" + strings.TrimSuffix(strings.Fields(at)[0], "/")
			go func() { _, _ = io.Copy(io.Discard, output) }() // it ends with the process
			return
		}
		t.Log(lines.Text())
	}
	t.Fatal("the server did not say where it listens")
}

// kill kills the process with SIGKILL.
func (s *server) kill(t testing.TB) {
	t.Helper()
	if s.process.ProcessState != nil {
		return
	}
	if err := s.process.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = s.process.Wait() // killed
}

// client returns a client of the SDK for Go.
func (s *server) client() *sfn.Client {
	return sfn.New(sfn.Options{
		Region: region, BaseEndpoint: aws.String(s.address),
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		APIOptions:  []func(*middleware.Stack) error{withoutPrefix},
	})
}

// withoutPrefix lets StartSyncExecution and TestState use the host without the prefix sync-, because names such as
// sync-127.0.0.1 do not resolve.
func withoutPrefix(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("WithoutHostPrefix",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error,
		) {
			return next.HandleInitialize(smithyhttp.DisableEndpointHostPrefix(ctx, true), in)
		}), middleware.Before)
}

// bounded returns a context for the calls of a test.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	t.Cleanup(cancel)
	return ctx
}
