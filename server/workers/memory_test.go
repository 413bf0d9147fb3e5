package workers_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestNoMemory lets a worker ask for work that has read none of its other answers, so that the server has no memory for
// one more. The work goes to the next worker at once, however long the lease is.
func TestNoMemory(t *testing.T) {
	t.Parallel()
	longtest.Needs(t) // ten seconds
	p := open(t, memstore.New(), once())
	defer p.stop()
	s, err := server.New(server.Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, quit := context.WithCancel(t.Context())
	full := make(chan struct{}, 8)
	url, err := s.Start(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			full <- struct{}{}
			<-r.Context().Done()
			return
		}
		p.handler.ServeHTTP(w, r)
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		quit()
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	ask := func(from byte, method, path, body string) int {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
		client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
		r, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(r)
		if err != nil {
			return 0
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	for range cap(full) {
		go ask(1, http.MethodGet, "/large", "")
	}
	for range cap(full) {
		<-full
	}
	p.start(t, "r")
	if status := ask(1, http.MethodPost, "/tasks/poll", `{"kinds": ["do"], "lease_seconds": 3600}`); status != http.StatusTooManyRequests {
		t.Errorf("the worker that reads nothing: %d", status)
	}
	if status := ask(5, http.MethodPost, "/tasks/poll", `{"kinds": ["do"], "wait_seconds": 5}`); status != http.StatusOK {
		t.Errorf("the next worker: %d", status)
	}
}
