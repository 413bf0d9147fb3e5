package console_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/ebbflow/ebb/server"
)

// withLanguage asks for pages in a language.
func withLanguage(h http.Handler, tag string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept-Language", tag)
		h.ServeHTTP(w, r)
	})
}

// foreign returns the texts of a page that are neither of the catalog, nor data, nor said to be in English.
func foreign(t *testing.T, page string) (found []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	free := []bool{false} // of each open element: what is in it is data, or in English
	open := 0             // brackets that a text has opened
	check := func(text string, depth *int) {
		for _, r := range text {
			switch r {
			case '⟦', '\u2068':
				*depth++
			case '⟧', '\u2069':
				*depth--
			default:
				if *depth == 0 && unicode.In(r, unicode.L) {
					found = append(found, text)
					return
				}
			}
		}
	}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			is := free[len(free)-1] || slices.Contains([]string{"bdi", "pre", "code", "textarea"}, token.Name.Local)
			for _, a := range token.Attr {
				is = is || a.Name.Local == "lang" && a.Value == "en"
				isClock := token.Name.Local == "time" && a.Name.Local == "title"
				if slices.Contains([]string{"aria-label", "title", "alt"}, a.Name.Local) && !isClock {
					check(a.Value, new(int))
				}
			}
			free = append(free, is)
		case xml.EndElement:
			free = free[:len(free)-1]
		case xml.CharData:
			if !free[len(free)-1] {
				check(string(token), &open)
			}
		}
	}
}

// TestPseudoLanguage reads all pages and dialogs in a language in which each text of the catalog stands in brackets:
// there is no other text. One of the two pseudo-languages is written from right to left.
func TestPseudoLanguage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	pages := append(slices.Clone(desks), "audit", "waiting", "definitions", "processes", "doctor", "login?wrong=1", "none",
		"runs?filter=sate:X", "runs?filter=flow:none", "compare", "compare?a=done&b=lost", "compare?a=done&b=none", "run?id=none",
		"jobs?did=job+cancel", "run?id=open&did=run+cancel", "run?id=done&atom=book", "audit?run=open", "edit", "trial/none/run")
	for _, view := range []string{"tree", "graph", "timeline", "undo", "history"} {
		pages = append(pages, "run?id=stuck&view="+view, "run?id=open&view="+view, "run?id=done&view="+view)
	}
	for _, all := range d.buttons() {
		pages = append(pages, all...)
	}
	english := d.handler
	for tag, dir := range map[string]string{"en-XA": "ltr", "ar-XB": "rtl"} {
		d.handler = withLanguage(english, tag)
		for _, operates := range []bool{true, false} {
			d.caller = server.Caller{Name: "ann", Operate: operates, Login: true}
			bodies := map[string]string{}
			for _, page := range pages {
				bodies[page] = d.ask(http.MethodGet, page, nil).Body.String()
			}
			for _, form := range editorForms {
				w := d.ask(http.MethodPost, "edit", form)
				bodies["edit with "+form.Encode()] = w.Body.String()
				if page := trialLink.FindStringSubmatch(w.Body.String()); page != nil {
					bodies[page[1]] = d.ask(http.MethodGet, page[1], nil).Body.String()
				}
			}
			for page, body := range bodies {
				if !operates && strings.HasPrefix(page, "edit with ") {
					continue // it was refused
				}
				if !strings.Contains(body, `<html lang="`+tag+`" dir="`+dir+`">`) || !strings.Contains(body, "⟦") {
					t.Fatalf("%s is not in %s:\n%s", page, tag, body)
				}
				for _, text := range foreign(t, body) {
					t.Errorf("%s shows %q, which is not in the catalog", page, text)
				}
			}
		}
		w := httptest.NewRecorder()
		withLanguage(undone(t), tag).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/waiting", http.NoBody))
		for _, text := range foreign(t, w.Body.String()) {
			t.Errorf("waiting shows %q, which is not in the catalog", text)
		}
	}
}
