//go:build unix

package workers_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
	"github.com/ebbflow/ebb/worker"
)

// beWorker does one task. It prints which, completes it with its name when it is told to continue, and prints the
// answer.
func beWorker(url string) {
	ctx, done := context.WithCancel(context.Background())
	name := os.Getenv("EBB_TEST_NAME")
	told := make(chan struct{})
	go func() {
		_, _ = io.ReadAll(os.Stdin) // closed when the worker must continue
		close(told)
	}()
	w := worker.Worker{URL: url, Name: name, Lease: time.Hour}
	w.Do = map[string]worker.Func{"do": func(_ context.Context, t *worker.Task) (any, error) {
		defer done()
		fmt.Fprintln(os.Stdout, "took", t.Run, t.Delivery, t.ID)
		<-told
		answer, err := http.Post(url+"/tasks/"+t.ID+"/complete", "application/json", strings.NewReader(`{"result":"`+name+`"}`))
		if err != nil {
			return nil, err
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		fmt.Fprintln(os.Stdout, "answered", answer.StatusCode, strings.TrimSpace(string(text)), err)
		return name, nil
	}}
	if err := w.Run(ctx); err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
}

// A hand is a worker in a process of its own.
type hand struct{ *childtest.Process }

func hire(t *testing.T, url, name string) hand {
	t.Helper()
	return hand{childtest.Start(t, workerVariable+"="+url, "EBB_TEST_NAME="+name)}
}

// says waits for the next line, and wants it to begin so.
func (h hand) says(t *testing.T, want string) string {
	t.Helper()
	line := h.Line()
	if !strings.HasPrefix(line, want) {
		t.Fatalf("it said %q, want %q", line, want)
	}
	return line
}

func (h hand) exits(t *testing.T) {
	t.Helper()
	if err := h.Wait(); err != nil {
		t.Error(err)
	}
}

// TestStopped: a worker that is stopped (SIGSTOP) for longer than its lease loses its task to another one. When it
// continues, it is refused, and the other's result stands.
//
// Guarantee (Workers): A worker that stops for longer than its lease loses its task and is refused, on SQLite and
// PostgreSQL.
func TestStopped(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testStopped(t, filepath.Join(t.TempDir(), "ebb.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		testStopped(t, postgrestest.DSN(t))
	})
}

func testStopped(t *testing.T, dsn string) {
	t.Helper()
	if strings.HasPrefix(dsn, "postgres") {
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
	}
	store, err := sqlstore.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, store, once())
	defer func() {
		p.stop()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	server := httptest.NewServer(workers.Handler(t.Context(), store))
	defer server.Close()
	p.start(t, "r")

	stopped := hire(t, server.URL, "stopped")
	took := strings.Fields(stopped.says(t, "took r 1 "))
	stopped.Halt("")
	if status, said := p.ask(took[3]+"/heartbeat", `{"lease_seconds":1}`); status != http.StatusOK { // the last that was heard of it
		t.Fatalf("the heartbeat: %d %v", status, said)
	}
	other := hire(t, server.URL, "other")
	other.says(t, "took r 2 ") // when the lease is over, and not before
	stopped.Wake()
	stopped.EndInput()
	if line := stopped.says(t, "answered 409"); !strings.Contains(line, `your lease ran out, and the task was given to another worker, \"other\"`) {
		t.Errorf("it was told %s", line)
	}
	stopped.exits(t)
	other.EndInput()
	other.says(t, "answered 200")
	other.exits(t)
	if run := p.ended(t, "r"); run.State != states.FlowSuccess {
		t.Errorf("it ended %v", run.State)
	}
	a, err := store.Atom(t.Context(), "r", "task")
	if err != nil || a.Result.Data.String() != `"other"` || a.Attempt != 1 {
		t.Errorf("the task has %s in attempt %d (%v)", a.Result.Data, a.Attempt, err)
	}
}
