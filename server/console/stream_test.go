package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A listener reads the events of a stream.
type listener struct {
	*testing.T

	lines *bufio.Scanner
	close func()
	id    string // of the last event
}

// listen opens a stream about pages, after an event.
func listen(t *testing.T, at, after string, pages ...string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/console/stream?"+url.Values{"on": pages}.Encode(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", after)
	answer, err := http.DefaultClient.Do(r) //nolint:bodyclose // the caller closes the listener
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the stream is %d %v", answer.StatusCode, answer.Header)
	}
	return &listener{t, bufio.NewScanner(answer.Body), func() { cancel(); _ = answer.Body.Close() }, ""}
}

// next returns the pages of the next event.
func (l *listener) next() (pages []string) {
	l.Helper()
	for l.lines.Scan() {
		if id, is := strings.CutPrefix(l.lines.Text(), "id: "); is {
			l.id = id
		}
		if data, is := strings.CutPrefix(l.lines.Text(), "data: "); is {
			if err := json.Unmarshal([]byte(data), &pages); err != nil {
				l.Fatal(err)
			}
			return pages
		}
	}
	l.Fatal("the stream has ended: ", l.lines.Err())
	return nil
}

// TestStream reports each change of a run and of a list once, also to a browser that was away meanwhile.
func TestStream(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	srv := httptest.NewServer(console.New(store, console.Options{}))
	defer srv.Close()
	defer http.DefaultClient.CloseIdleConnections()
	create := func(id string) {
		t.Helper()
		if err := store.Create(t.Context(), storage.Run{ID: id, Flow: "f", Structure: "x", Created: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	const run, list = "run?id=a%26b&view=undo", "runs?filter=flow%3Af"
	create("a&b")
	l := listen(t, srv.URL, "", run, list)
	seen := map[string]bool{}
	for len(seen) < 2 { // the versions that the pages have
		for _, page := range l.next() {
			seen[page] = true
		}
	}
	if err := store.Send(t.Context(), storage.Message{Run: "a&b", Kind: "signal"}); err != nil {
		t.Fatal(err)
	}
	if pages := l.next(); !slices.Equal(pages, []string{run}) {
		t.Errorf("a change of the run changes %v", pages)
	}
	create("c")
	if pages := l.next(); !slices.Equal(pages, []string{list}) {
		t.Errorf("a new run changes %v", pages)
	}
	l.close()

	if err := store.Send(t.Context(), storage.Message{Run: "a&b", Kind: "signal"}); err != nil {
		t.Fatal(err)
	}
	l = listen(t, srv.URL, l.id, run, list)
	if pages := l.next(); !slices.Equal(pages, []string{run}) {
		t.Errorf("while it was away, %v changed", pages)
	}
	l.close()
	for _, forged := range []string{"x", "null", "[]", `{"run?id=c":"1"}`, strings.Repeat("{", 20_000)} {
		l := listen(t, srv.URL, forged, "run?id=c")
		if pages := l.next(); !slices.Equal(pages, []string{"run?id=c"}) {
			t.Errorf("after %.20q the stream tells of %v", forged, pages)
		}
		l.close()
	}
}

// TestStreamRefused: there is no stream of other pages, nor of very many.
func TestStreamRefused(t *testing.T) {
	t.Parallel()
	h := undone(t)
	for query, want := range map[string]int{
		"": http.StatusBadRequest, "on=" + strings.Repeat("&on=runs", 16): http.StatusBadRequest, "on=command": http.StatusNotFound,
		"on=login": http.StatusNotFound, "on=https%3A%2F%2Fevil.example%2Fruns": http.StatusNotFound, "on=%25": http.StatusNotFound,
		"on=//evil.example/runs": http.StatusNotFound, "on=../metrics": http.StatusNotFound,
	} {
		if w := get(t, h, http.MethodGet, "/console/stream?"+query); w.Code != want {
			t.Errorf("%s: %d, want %d", query, w.Code, want)
		}
	}
}
