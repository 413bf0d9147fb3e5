package interop_test

import (
	"context"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/dynamicpb"
)

// command builds ebb from the checkout, once for all tests, and returns its file.
func command(t *testing.T) string {
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

var (
	built sync.Once
	file  string
)

// TestMain removes the command.
func TestMain(m *testing.M) {
	code := m.Run()
	if file != "" {
		_ = os.RemoveAll(filepath.Dir(file)) // a temporary folder
	}
	os.Exit(code)
}

// TestExample runs the example 09_grpc against the health service of Google's library, which serves after the second
// call.
func TestExample(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	state := health.NewServer()
	state.SetServingStatus("shop", healthpb.HealthCheckResponse_NOT_SERVING)
	calls := 0
	server := grpc.NewServer(grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if calls++; calls == 2 {
				state.SetServingStatus("shop", healthpb.HealthCheckResponse_SERVING)
			}
			return next(ctx, req)
		}))
	healthpb.RegisterHealthServer(server, state)
	go func() { _ = server.Serve(listener) }() // Stop ends it
	defer server.Stop()
	cmd := exec.CommandContext(t.Context(), command(t), "run", "await_service.sm4c.json",
		"--input", `{"service": "shop"}`, "-o", "json",
		"--dsn", "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"),
		"--grpc", "grpc.health.v1.Health=http://"+listener.Addr().String())
	cmd.Dir = filepath.Join("..", "..", "..", "examples", "09_grpc")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `SERVING`) || calls != 2 {
		t.Errorf("%v after %d calls: %s", err, calls, out)
	}
}

// write writes the machine and its schema into a folder.
func write(t *testing.T, dir string) {
	t.Helper()
	texts := maps.Clone(protos)
	texts["m.sm4c.json"] = calling(someArgs, "", "")
	for name, text := range texts {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServed: ebb serve calls the functions of runs that it begins for jobs, by the stored schema.
func TestServed(t *testing.T) {
	t.Parallel()
	dir, ebb := t.TempDir(), command(t)
	write(t, dir)
	called := make(chan bool)
	s := serve(t, schema(t), map[string]answer{"Get": func(context.Context, *dynamicpb.Message, *dynamicpb.Message) error {
		called <- true
		return nil
	}})
	post := exec.CommandContext(t.Context(), ebb, "post", "m.sm4c.json")
	post.Dir = dir
	if out, err := post.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := exec.CommandContext(ctx, ebb, "serve", "--listen", "off", "--grpc", "*="+s.url.String())
	server.Dir = dir
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-called:
	case <-ctx.Done():
		t.Error("the method was not called")
	}
	cancel()
	_ = server.Wait() // it was interrupted
}

// TestRepeatedAfterAKill kills the command in the middle of a call. When the run is resumed, the server gets the call
// again under the same idempotency key. The schema is not read again: its files are gone.
//
// Guarantee (gRPC): After a death of Ebb, the call is made again under the same key.
func TestRepeatedAfterAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ebb := command(t)
	write(t, dir)

	called, answers := make(chan bool), make(chan bool)
	s := serve(t, schema(t), map[string]answer{"Get": func(ctx context.Context, _, out *dynamicpb.Message) error {
		called <- true
		select {
		case <-answers:
		case <-ctx.Done():
		}
		set(out, "paid", true)
		return nil
	}})
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), ebb, append(args, "--grpc", "shop.Orders="+s.url.String(), "-o", "json")...)
		cmd.Dir = dir
		return cmd
	}
	first := run("run", "m.sm4c.json", "--id", "r")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	<-called
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	for _, folder := range []string{"apis", "common"} {
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		<-called
		answers <- true
	}()
	out, err := run("resume", "r").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"paid": true`) && !strings.Contains(string(out), `"paid":true`) {
		t.Fatalf("%v: %s", err, out)
	}
	calls := s.calls()
	if len(calls) != 2 || calls[0].Get("idempotency-key")[0] != calls[1].Get("idempotency-key")[0] {
		t.Errorf("the calls were made with %v", calls)
	}
}
