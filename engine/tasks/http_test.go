package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/webclient"
)

// asked records the request to a server.
type asked struct {
	Method, Key, Type, Run, Path, Attempt, Trace string
	Body                                         any
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// reach returns the body that calls a test server. Its connections end with the server.
func reach(t *testing.T, s *httptest.Server, path string) atom.Body {
	t.Helper()
	r := &tasks.Registry{Client: s.Client()}
	body, err := r.Task(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, req *http.Request) {
		a := asked{
			req.Method, req.Header.Get("Idempotency-Key"), req.Header.Get("Content-Type"),
			req.Header.Get("Ebb-Run"), req.Header.Get("Ebb-Path"), req.Header.Get("Ebb-Attempt"), req.Header.Get("Traceparent"),
			nil,
		}
		_ = json.NewDecoder(req.Body).Decode(&a.Body)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(a)
	})
	body := reach(t, s, "/book")
	call := atom.Call{Run: "r", Path: "Book hotel", Attempt: 2, Trace: "00-a-b-01"}
	in := atom.Single(atom.MustEncode(map[string]int{"n": 1}))
	got, err := body.Execute(calling(t, call), in)
	if err != nil {
		t.Fatal(err)
	}
	var was asked
	if err := got.Decode(&was); err != nil {
		t.Fatal(err)
	}
	want := asked{
		"POST", "r/Book hotel/0", "application/json", "r", "Book%20hotel", "2", "00-a-b-01",
		map[string]any{"n": 1.0},
	}
	if diff := cmp.Diff(want, was); diff != "" {
		t.Error(diff)
	}
	call.Revert = true
	got, err = body.Revert(calling(t, call), in, atom.Done(atom.Null))
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Decode(&was); err != nil {
		t.Fatal(err)
	}
	if was.Key != "r/Book hotel/0/revert" {
		t.Errorf("the revert came with key %q", was.Key)
	}
}

// Attack (Answers of other servers): Endless, slow or held bodies and trailers, wrong lengths, 2 GB in 2 MB of gzip,
// `101`, `999`, 400,000 levels, invalid text, a huge `Retry-After`.
// Result: Bounded: decompressed size, redirects, time; a cancel ends the wait.
// Also: ; others by hand, also on PostgreSQL.
func TestHTTPFailures(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/refuse":
			http.Error(w, `{"reason":"full"}`, http.StatusConflict)
		case "/long":
			http.Error(w, strings.Repeat("x", 10_000), http.StatusBadGateway)
		case "/text":
			_, _ = w.Write([]byte("hello"))
		case "/large":
			_, _ = w.Write([]byte(`"` + strings.Repeat("x", atom.MaxValue) + `"`))
		case "/around":
			http.Redirect(w, req, "/around", http.StatusTemporaryRedirect)
		case "/broken":
			panic(http.ErrAbortHandler)
		}
	})
	tests := map[string]*atom.Failure{
		"/empty":  nil,
		"/refuse": {Code: "Http.StatusCode.409", Message: `{"reason":"full"}`},
		"/long":   {Code: "Http.StatusCode.502", Message: strings.Repeat("x", 4096) + "…"},
		"/text":   {Code: "Runtime.MarshalError", Message: "the answer of " + s.URL + "/text is no JSON: hello"},
		"/large":  {Code: atom.CodeTooLarge, Message: "the answer of " + s.URL + "/large is larger than 1048576 bytes"},
		"/broken": {Code: "Http.Socket", Message: "EOF"},
	}
	for path, want := range tests {
		_, err := reach(t, s, path).Execute(t.Context(), atom.Single(atom.Null))
		if diff := cmp.Diff(want, failure(err)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	var r tasks.Registry // with the client of its own, which bounds redirects
	body, err := r.Task(s.URL + "/around")
	if err != nil {
		t.Fatal(err)
	}
	_, err = body.Execute(t.Context(), atom.Single(atom.Null))
	want := &atom.Failure{Code: "Http.Socket", Message: "more than 3 redirects"}
	if diff := cmp.Diff(want, failure(err)); diff != "" {
		t.Error(diff)
	}
	webclient.Default().CloseIdleConnections()
}

func TestHTTPTimeout(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request) { <-hung })
	defer close(hung)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := reach(t, s, "/").Execute(ctx, atom.Single(atom.Null))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v; want a timeout", err)
	}
}
