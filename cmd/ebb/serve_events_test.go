package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestServeEvents: a machine that a server drives sends a CloudEvent, waits, and continues with the event that answers
// it, which arrives over HTTP.
func TestServeEvents(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 9) // for each time that it may be sent
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- r.Header.Get("Ce-Type") + " " + r.Header.Get("Ce-Application") + " " + string(body)
	}))
	defer sink.Close()
	file, err := filepath.Abs("../../examples/06_sm4c/credit_check.sm4c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	v := newVictim(t, "steps.asl.json")
	store, err := sqlstore.Open(t.Context(), v.db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	server := v.ebb("EBB_LOG_LEVEL=off", "serve", "--listen", "127.0.0.1:0", "--sink", sink.URL, file)
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(said).ReadString('\n')
	address := regexp.MustCompile(`http://\S+`).FindString(first)
	if err != nil || address == "" {
		t.Fatalf("it said %q (%v)", first, err)
	}
	job := jobs.Job{ID: "a", Flow: "credit_check", Input: map[string]any{"application": "A-1", "customer": "Ann", "amount": 7}}
	if _, err := jobs.New(store, jobs.Policy{}).Post(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; !strings.HasPrefix(got, "org.example.credit.asked A-1 ") || !strings.Contains(got, `"Ann"`) {
		t.Errorf("it asked %q", got)
	}
	tell := func(url, origin string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url,
			strings.NewReader(`{"specversion":"1.0","id":"1","source":"/bank","type":"org.example.credit.answered","application":"A-1","data":{"rating":"good"}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/cloudevents+json")
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // it says nothing that is wanted
		return answer.StatusCode
	}
	if status := tell(address+"/events?run=a", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("a page's event was answered %d", status)
	}
	if status := tell(address+"/events?run=a", ""); status/100 != 2 {
		t.Errorf("the event was answered %d", status)
	}
	waitForJob(t, store, "a", states.JobComplete)
	run, err := store.Run(t.Context(), "a")
	if err != nil || !strings.Contains(string(run.Output.Data), `"granted":true`) {
		t.Errorf("it ended with %s (%v)", run.Output.Data, err)
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("it drained, and exited with %v", err)
	}
}

// waitForJob waits until a job is in a state.
func waitForJob(t *testing.T, store *sqlstore.Store, id string, state states.Job) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		job, err := store.Job(context.WithoutCancel(t.Context()), id)
		if err != nil {
			t.Fatal(err)
		}
		if job.State == state {
			return
		}
		<-tick.C
	}
}
