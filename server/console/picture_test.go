package console_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestDownload: the pictures of a run are files that look right alone: they are XML with styles, without links, and
// have no secret.
func TestDownload(t *testing.T) {
	t.Parallel()
	h := undone(t)
	run := "/console/run?id=" + url.QueryEscape(hostile)
	for _, view := range []string{"graph", "timeline", "timeline&fold=1", "undo"} {
		page := get(t, h, http.MethodGet, run+"&view="+view).Body.String()
		if !strings.Contains(page, `&amp;svg=1&amp;view=`+strings.TrimSuffix(view, "&fold=1")+`" download="">Download as SVG`) {
			t.Errorf("%s has no link to the file:\n%s", view, page)
		}
		w := get(t, h, http.MethodGet, run+"&svg=1&view="+view)
		file, header := w.Body.String(), w.Header()
		if header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment; filename=") ||
			!strings.Contains(header.Get("Content-Disposition"), ".svg") {
			t.Errorf("%s: %v", view, header)
		}
		for _, want := range []string{"<style>", "--ink:", ".s-reverted", "prefers-color-scheme:dark", "hotel", "flight"} {
			if !strings.Contains(file, want) {
				t.Errorf("the file of %s has no %q:\n%s", view, want, file)
			}
		}
		for _, never := range []string{"href", "hunter2", "<script", "<!doctype"} {
			if strings.Contains(file, never) {
				t.Errorf("the file of %s has %q:\n%s", view, never, file)
			}
		}
		for d := xml.NewDecoder(strings.NewReader(file)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("the file of %s is no XML: %v\n%s", view, err, file)
			}
		}
	}
}

// TestZoom: links make the graph larger and smaller. The address has the zoom, and links keep it.
func TestZoom(t *testing.T) {
	t.Parallel()
	h := undone(t)
	run := "/console/run?view=graph&id=" + url.QueryEscape(hostile)
	width := func(page string) string {
		_, rest, _ := strings.Cut(page, `class="ebb" width="`)
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	plain := get(t, h, http.MethodGet, run+"&zoom=1e9").Body.String()
	large := get(t, h, http.MethodGet, run+"&zoom=200&atom=hotel").Body.String()
	if width(plain) == "" || width(plain) == width(large) || !strings.Contains(plain, `&amp;zoom=150" role="link" data-zoom="+"`) {
		t.Errorf("widths %q and %q in\n%s", width(plain), width(large), plain)
	}
	for _, want := range []string{`&amp;zoom=300" role="link" data-zoom="+"`, `&amp;zoom=150" role="link" data-zoom="-"`, `view=graph&amp;zoom=200"><g class="node`, "200 %"} {
		if !strings.Contains(large, want) {
			t.Errorf("no %s in\n%s", want, large)
		}
	}
	if end := get(t, h, http.MethodGet, run+"&zoom=400").Body.String(); !strings.Contains(end, `<a class="button" aria-disabled="true" role="link" data-zoom="+"`) {
		t.Errorf("the largest graph can become larger:\n%s", end)
	}
}

// TestLargePicture: a page has no graph with very many elements, but a link to it.
func TestLargePicture(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	d, err := store.PutDefinition(t.Context(), storage.Definition{Hash: "h", Name: "m", Language: "l", Text: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	states := 400
	h := console.New(store, console.Options{Define: func(context.Context, *storage.Definition) (console.Machine, error) {
		m := members{}
		for i := range states {
			m.names = append(m.names, fmt.Sprint("state", i))
		}
		return m, nil
	}})
	address := "/definition?hash=" + d.Hash
	if page := get(t, h, http.MethodGet, address).Body.String(); strings.Count(page, "<") < 2000 || strings.Count(page, "<") > 6000 {
		t.Errorf("a page with 400 states has %d tags", strings.Count(page, "<"))
	}
	states = 5000
	page := get(t, h, http.MethodGet, address).Body.String()
	if strings.Contains(page, "state4999") || !strings.Contains(page, "The graph is too large") || !strings.Contains(page, `svg=1" download=""`) {
		t.Errorf("the page is\n%s", page)
	}
	if file := get(t, h, http.MethodGet, address+"&svg=1").Body.String(); !strings.Contains(file, "state4999") {
		t.Error("the file lacks a state")
	}
}
