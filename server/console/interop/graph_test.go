package interop_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// stepLinks find where the steps of a view lead.
var stepLinks = map[string]*regexp.Regexp{
	"graph": regexp.MustCompile(`<a href="([^"]*)"><g class="node`),
	"tree":  regexp.MustCompile(`<a data-name="" href="([^"]*)"`),
}

// TestGraphReachesAtoms: from the graph of a run, also of 10,000 atoms, links of its nodes and to further parts lead to
// each atom. No part of a level shows one twice.
func TestGraphReachesAtoms(t *testing.T) {
	t.Parallel()
	s := shared(t)
	for _, run := range []string{tripRun, nestedRun, retryRun, sagaRun, eachRun, parentRun, largeRun, manyRun} {
		reached := s.reachesAtoms(t, run, "graph", nil)
		if run == eachRun && !reached["double/2"] && !reached["double[2]"] {
			t.Errorf("the items of a run are not reached: %v", reached)
		}
	}
}

// innerItem finds the number of an item that has a level of its own.
var innerItem = regexp.MustCompile(`/Inner\[(\d+)\]`)

// TestLargeMapReachesAtoms is TestGraphReachesAtoms, also for the tree, with Maps of 20,000 items in all, a
// thousand in each. Of the levels of the items, it follows one in a hundred.
func TestLargeMapReachesAtoms(t *testing.T) {
	t.Parallel()
	const n, each = 20_000, 1000 // items in all, and of each Map
	dir, began := t.TempDir(), time.Now()
	text := definitions["many.asl.json"]
	text = strings.Replace(text, "ArrayRange(0, 99, 1)", fmt.Sprintf("ArrayRange(1, %d, 1)", n/each), 1)
	text = strings.Replace(text, "ArrayRange(0, 99, 1)", fmt.Sprintf("ArrayRange(1, %d, 1)", each), 1)
	if err := os.WriteFile(filepath.Join(dir, "many.asl.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "run", "many.asl.json", "--id", manyRun)
	t.Logf("%v: the run has ended", time.Since(began).Round(time.Millisecond))
	s := &site{dir: dir, server: serve(t, dir)}
	defer s.kill()
	skip := func(path string) bool {
		m := innerItem.FindStringSubmatch(path)
		return m != nil && !strings.HasSuffix(m[1], "00")
	}
	for view := range stepLinks {
		reached := s.reachesAtoms(t, manyRun, view, skip)
		t.Logf("%v: the %s reaches %d steps", time.Since(began).Round(time.Millisecond), view, len(reached))
		if len(reached) < n {
			t.Errorf("the %s reaches %d steps, want %d or more", view, len(reached), n)
		}
	}
}

// reachesAtoms follows the links of a view of a run, except to levels below a path that it skips. It returns the steps
// that it reached, and checks that all atoms on these levels are among them.
func (s *site) reachesAtoms(t *testing.T, run, view string, skip func(path string) bool) (reached map[string]bool) {
	t.Helper()
	if skip == nil {
		skip = func(string) bool { return false }
	}
	reached = map[string]bool{}
	pages := map[string]bool{}
	for next := []string{s.page("run", "id", run, "view", view)}; len(next) > 0; {
		at := parse(t, next[0])
		next = next[1:]
		q := at.Query()
		q.Del("atom")
		if at.RawQuery = q.Encode(); pages[at.RawQuery] {
			continue
		}
		pages[at.RawQuery] = true
		text, err := fetch(t.Context(), at.String())
		if err != nil {
			t.Fatal(err)
		}
		var here []string
		for _, m := range stepLinks[view].FindAllStringSubmatch(text, -1) {
			if atom := follow(t, at, m[1]).Query().Get("atom"); atom != "" {
				here = append(here, atom)
				reached[atom] = true
			}
		}
		if slices.Sort(here); at.Query().Has("below") && len(slices.Compact(slices.Clone(here))) != len(here) {
			t.Errorf("%s shows an atom twice", at)
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := follow(t, at, m[1])
			if q := to.Query(); q.Get("view") == view && (q.Has("below") || q.Has("from")) && !q.Has("zoom") && !q.Has("svg") &&
				!skip(q.Get("below")) {
				next = append(next, to.String())
			}
		}
	}
	atoms := s.atoms(t, run)
	if len(atoms) == 0 {
		t.Errorf("%s has no atoms", run)
	}
	for _, path := range atoms {
		if !reached[path] && !skip(path[:max(strings.LastIndexByte(path, '/'), 0)]) {
			t.Errorf("%s: of %d atoms, %d are reached on %d pages; not %s", run, len(atoms), len(reached), len(pages), path)
			break
		}
	}
	return reached
}

// follow returns the address that a link of a page has.
func follow(t *testing.T, at *url.URL, link string) *url.URL {
	t.Helper()
	to, err := at.Parse(html.UnescapeString(link))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// atoms returns the paths of the atoms of a run.
func (s *site) atoms(t *testing.T, run string) []string {
	t.Helper()
	var paths []string
	for after := ""; ; {
		text, err := fetch(t.Context(), s.address+"/api/v1/runs/"+url.PathEscape(run)+"/atoms?limit=100"+after)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Atoms []struct{ Path string }
			Next  string
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			t.Fatalf("%v: %s", err, clip(text))
		}
		for _, a := range page.Atoms {
			if a.Path != "/" { // it is the run itself
				paths = append(paths, a.Path)
			}
		}
		if page.Next == "" {
			return paths
		}
		after = "&after=" + url.QueryEscape(page.Next)
	}
}
