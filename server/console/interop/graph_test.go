package interop_test

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"testing"
)

// nodeLink finds where a node of a graph leads.
var nodeLink = regexp.MustCompile(`<a href="([^"]*)"><g class="node`)

// TestGraphReachesAtoms: from the graph of a run, also of 10,000 atoms, links of its nodes and to further parts lead to
// each atom. No part of a level shows one twice.
func TestGraphReachesAtoms(t *testing.T) {
	t.Parallel()
	s := shared(t)
	for _, run := range []string{tripRun, nestedRun, retryRun, sagaRun, eachRun, parentRun, largeRun, manyRun} {
		reached, pages := map[string]bool{}, map[string]bool{}
		for next := []string{s.page("run", "id", run, "view", "graph")}; len(next) > 0; {
			address := next[0]
			next = next[1:]
			at := parse(t, address)
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
			for _, m := range nodeLink.FindAllStringSubmatch(text, -1) {
				to, err := at.Parse(html.UnescapeString(m[1]))
				if err != nil {
					t.Fatal(err)
				}
				if atom := to.Query().Get("atom"); atom != "" {
					here = append(here, atom)
					reached[atom] = true
				}
				if to.Query().Has("below") {
					next = append(next, to.String())
				}
			}
			if slices.Sort(here); at.Query().Has("below") && len(slices.Compact(slices.Clone(here))) != len(here) {
				t.Errorf("%s shows an atom twice", address)
			}
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				if to, err := at.Parse(html.UnescapeString(m[1])); err == nil && to.Query().Get("from") != "" && to.Query().Get("view") == "graph" && !to.Query().Has("zoom") && !to.Query().Has("svg") {
					next = append(next, to.String())
				}
			}
		}
		atoms := s.atoms(t, run)
		if len(atoms) == 0 {
			t.Errorf("%s has no atoms", run)
		}
		for _, path := range atoms {
			if !reached[path] {
				t.Errorf("%s: of %d atoms, %d are reached on %d pages; not %s", run, len(atoms), len(reached), len(pages), path)
				break
			}
		}
		if run == eachRun && !reached["double/2"] && !reached["double[2]"] {
			t.Errorf("the items of a run are not reached: %v", reached)
		}
	}
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
