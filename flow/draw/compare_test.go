package draw_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow/draw"
)

// TestCompare draws what two versions have in common once, and marks what only one of them has, and what changed. The
// marks are texts too.
func TestCompare(t *testing.T) {
	t.Parallel()
	old := draw.View{
		Groups: []draw.Group{{ID: "g"}},
		Nodes:  []draw.Node{{ID: "a"}, {ID: "b", Kind: draw.Wait}, {ID: "gone", In: "g"}, {ID: "same", State: "SUCCESS"}},
		Edges:  []draw.Edge{{From: "a", To: "b"}, {From: "b", To: "gone", Maybe: true}, {From: "b", To: "same", Maybe: true}},
	}
	now := draw.View{
		Title: "now", Nodes: []draw.Node{{ID: "a"}, {ID: "b"}, {ID: "new"}, {ID: "same"}},
		Edges: []draw.Edge{{From: "a", To: "b"}, {From: "b", To: "new"}, {From: "b", To: "same"}},
	}
	got := draw.Compare(old, now, func(n *draw.Node) bool { return n.ID == "a" || n.ID == "new" })
	want := draw.View{
		Title: "now", Groups: []draw.Group{{ID: "g"}},
		Nodes: []draw.Node{
			{ID: "a", State: draw.Changed},
			{ID: "b", State: draw.Changed},
			{ID: "new", State: draw.Added},
			{ID: "same"},
			{ID: "gone", In: "g", State: draw.Removed},
		},
		Edges: []draw.Edge{
			{From: "a", To: "b"},
			{From: "b", To: "new", Taken: true},
			{From: "b", To: "same"},
			{From: "b", To: "gone", Maybe: true},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	picture := draw.SVG(got, draw.SVGOptions{})
	for _, mark := range []string{"+ ADDED", "− REMOVED", "≠ CHANGED", ".s-added .shape"} {
		if !strings.Contains(picture, mark) {
			t.Errorf("there is no %q in\n%s", mark, picture)
		}
	}
}
