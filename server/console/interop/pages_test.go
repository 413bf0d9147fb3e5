package interop_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fetch returns the text of an address, without a browser.
func fetch(ctx context.Context, address string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusInternalServerError && answer.StatusCode != http.StatusNotImplemented {
		err = fmt.Errorf("%s: %s", address, answer.Status)
	}
	return string(text), err
}

func contains(page, what string) bool { return strings.Contains(html.UnescapeString(page), what) }

// link finds the addresses that a page leads to.
var link = regexp.MustCompile(`<a\s[^>]*?\bhref="([^"]*)"`)

// crawl returns the pages that links lead to from some pages, in the order in which they are found, and their texts by
// address. It takes most only of those that are alike: those with the same name, and the same names in the query. No link
// may lead out of the console, whose first page is home.
func crawl(t *testing.T, home string, most int, from ...string) (found []string, texts map[string]string) {
	t.Helper()
	alike := map[string]int{}
	texts = map[string]string{}
	for next := from; len(next) > 0; {
		address := next[0]
		next = next[1:]
		if _, again := texts[address]; again {
			continue
		}
		found = append(found, address)
		text, err := fetch(t.Context(), address)
		if err != nil {
			t.Errorf("%s: %v", clip(address), err)
			continue
		}
		texts[address] = text
		at := parse(t, address)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to, err := at.Parse(html.UnescapeString(m[1]))
			if err != nil {
				t.Errorf("%s: the link %q: %v", clip(address), clip(m[1]), err)
				continue
			}
			to.Fragment = ""
			if !strings.HasPrefix(to.String(), home) {
				t.Errorf("%s leads to %s", clip(address), clip(to.String()))
				continue
			}
			if q := to.Query(); q.Has("svg") || choices(q) > 1 { // a file, or parts that two other pages have
				continue
			}
			if _, again := texts[to.String()]; again || slices.Contains(next, to.String()) {
				continue
			}
			if k := kind(to); alike[k] < most {
				alike[k]++
				next = append(next, to.String())
			}
		}
	}
	return found, texts
}

// choices counts what an address chooses of a run: an atom, the zoom of its graph, the folding of its timeline.
func choices(q url.Values) (n int) {
	for _, name := range []string{"atom", "zoom", "fold"} {
		if q.Has(name) {
			n++
		}
	}
	return n
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// trialPath begins the paths of the pages of a trial, which are those of other runs, too.
var trialPath = regexp.MustCompile(`/trial/[^/]+/`)

// kind is the same for pages that are alike.
func kind(at *url.URL) string {
	kind := trialPath.ReplaceAllString(at.Path, "/")
	q := at.Query()
	for _, name := range slices.Sorted(maps.Keys(q)) {
		kind += " " + name
		if name == "view" || name == "of" || name == "do" {
			kind += "=" + q.Get(name)
		}
	}
	return kind
}

// everyPage returns the pages of the shared site: those that links lead to, one of those that are alike, and each view of
// each kind of run.
func everyPage(t *testing.T, s *site) []string {
	t.Helper()
	s.crawled.Lock()
	defer s.crawled.Unlock()
	if s.pages != nil {
		return s.pages
	}
	from := []string{s.page("")}
	for _, run := range smallRuns {
		from = append(from, s.page("run", "id", run))
	}
	for _, view := range []string{"tree", "graph", "timeline", "undo", "history"} {
		for _, run := range []string{tripRun, stuckRun, largeRun, nestedRun, sagaRun} {
			from = append(from, s.page("run", "id", run, "view", view))
		}
	}
	for _, two := range [][2]string{{tripRun, metricRun}, {stuckRun, signalRun}, {metricRun, nestedRun}, {manyRun, largeRun}} {
		from = append(from, s.page("compare", "a", two[0], "b", two[1]))
	}
	from = append(from, comparedVersions(t, s)...)
	s.pages, _ = crawl(t, s.page(""), 1, append(from, trialPage(t, s), s.page("run", "id", "none"), s.page("runs", "filter", "sate:X"), s.page("runs", "filter", "flow:none"))...)
	return s.pages
}

// comparedVersions returns pages that compare two versions of a definition, one of each.
func comparedVersions(t *testing.T, s *site) []string {
	t.Helper()
	seen := map[string]bool{}
	var found []string
	pages, _ := crawl(t, s.page(""), 2*len(hostileTexts), s.page("definitions"))
	for _, page := range pages {
		q := parse(t, page).Query()
		if q.Has("with") && !seen[q.Get("with")] {
			seen[q.Get("hash")] = true
			found = append(found, page)
		}
	}
	if len(found) == 0 {
		t.Error("no link leads to two versions of a definition")
	}
	return found
}
