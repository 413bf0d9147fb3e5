package interop_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTrip: the README's trip failed and was undone. Tree, graph, timeline and undo view show it in the order that
// `ebb show` gives, with scripts and without, and after a reload.
func TestTrip(t *testing.T) {
	t.Parallel()
	s := shared(t)
	var show struct {
		States []struct{ Path, Status string }
		Atoms  []struct{ Path, State string }
		Undone []string
	}
	if err := json.Unmarshal([]byte(command(t, s.dir, "show", tripRun, "-o", "json")), &show); err != nil {
		t.Fatal(err)
	}
	status := map[string]string{}
	for _, a := range show.Atoms {
		status[a.Path] = a.State
	}
	var did []string
	for _, state := range show.States {
		did = append(did, state.Path)
	}
	if len(did) != 4 || len(show.Undone) != 3 {
		t.Fatalf("ebb show: %v, undone %v", did, show.Undone)
	}
	for _, l := range []look{{1280, false, true}, {1280, false, false}, {360, true, false}} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			b := open(t, l)
			for _, reload := range []string{"", ", again"} {
				b.visit(s.page("run", "id", tripRun, "view", "tree"))
				var tree []string
				for i, row := range b.texts(".tree li") {
					name, _, _ := strings.Cut(row, " ")
					tree = append(tree, name)
					if i < len(did) && !strings.Contains(row, status[did[i]]) {
						t.Errorf("tree%s: %q, want %s", reload, row, status[did[i]])
					}
				}
				if !slices.Equal(tree, did) {
					t.Errorf("tree%s: %q, want %q", reload, tree, did)
				}
				b.visit(s.page("run", "id", tripRun, "view", "graph"))
				checkGraph(t, b, did, status, show.Undone)
				b.visit(s.page("run", "id", tripRun, "view", "timeline"))
				checkTimeline(t, b, did, show.Undone)
				b.visit(s.page("run", "id", tripRun, "view", "undo"))
				var undone []string
				for _, row := range b.texts(".undone li") {
					undone = append(undone, strings.Fields(row)[0])
				}
				if !slices.Equal(undone, show.Undone) {
					t.Errorf("undo view%s: %q, want %q", reload, undone, show.Undone)
				}
			}
			for _, p := range b.took() {
				t.Error(p)
			}
		})
	}
}

// checkGraph: the graph has each state below the one before, with what became of it, and the way back.
func checkGraph(t *testing.T, b *tab, did []string, status map[string]string, undone []string) {
	t.Helper()
	type node struct {
		Text, Class string
		Y           float64
	}
	nodes := eval[[]node](b, `[...document.querySelectorAll("svg .node")].map(n => ({Text: n.querySelector("text")?.textContent ?? "",
		Class: n.getAttribute("class"), Y: n.getBoundingClientRect().y}))`)
	last := -1.0
	for _, path := range did {
		i := slices.IndexFunc(nodes, func(n node) bool { return strings.Contains(n.Text, path) })
		if i < 0 {
			t.Errorf("the graph has no %s: %v", path, nodes)
			continue
		}
		class := "s-" + strings.ToLower(strings.ReplaceAll(status[path], "_", "-"))
		if !strings.Contains(nodes[i].Class, class) || nodes[i].Y <= last {
			t.Errorf("the graph has %v, want it %s and below %v", nodes[i], class, last)
		}
		last = nodes[i].Y
	}
	back := eval[int](b, `document.querySelectorAll("svg path.undo, svg .undo path").length`)
	if back < len(undone)-1 {
		t.Errorf("the graph has %d lines back, for %v", back, undone)
	}
}

// barTitle is what a bar of the timeline says.
var barTitle = regexp.MustCompile(`^(\S+) (\S+) `)

// checkTimeline: execution is above the line in its order, undo below it in its order, and lines connect them.
func checkTimeline(t *testing.T, b *tab, did, undone []string) {
	t.Helper()
	type bar struct {
		Title string
		X, Y  float64
	}
	bars := eval[[]bar](b, `[...document.querySelectorAll("svg .node")].map(n => ({Title: n.querySelector("title").textContent,
		X: n.querySelector("rect").getBoundingClientRect().x, Y: n.querySelector("rect").getBoundingClientRect().y}))`)
	axis := eval[float64](b, `document.querySelector("svg .axis").getBoundingClientRect().y`)
	var above, below []string
	at := -1.0
	for _, bar := range bars {
		if bar.X < at {
			t.Errorf("the timeline has %s before the one that began before it", bar.Title)
		}
		at = bar.X
		name := barTitle.FindStringSubmatch(bar.Title)[1]
		if bar.Y < axis {
			above = append(above, name)
		} else {
			below = append(below, name)
		}
	}
	if !slices.Equal(above, did) || !slices.Equal(below, undone) {
		t.Errorf("the timeline has %q above and %q below, want %q and %q", above, below, did, undone)
	}
	if links := eval[int](b, `document.querySelectorAll("svg path.undo").length`); links != len(undone) {
		t.Errorf("the timeline has %d links, want %d", links, len(undone))
	}
}
