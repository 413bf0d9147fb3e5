package draw_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/draw"
)

// TestLabelsBeside: labels of edges do not cover each other or the numbers of the undo, and the image is as wide as they
// need.
func TestLabelsBeside(t *testing.T) {
	t.Parallel()
	v := draw.View{Title: "f"}
	for _, id := range []string{"kind", "express", "both", "refuse"} {
		v.Nodes = append(v.Nodes, draw.Node{ID: id, State: "REVERTED"})
	}
	v.Edges = []draw.Edge{
		{From: "kind", To: "express", Label: "$.express = true"},
		{From: "kind", To: "both", Label: "$.express = false"},
		{From: "kind", To: "refuse", Label: "default"},
		{From: "express", To: "both"},
		{From: "both", To: "express", Label: "$.again = true and more"},
	}
	image := draw.SVG(v, draw.SVGOptions{Undone: []string{"both", "express", "kind"}})
	number := func(text string) float64 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	width := number(regexp.MustCompile(`viewBox="0 0 ([0-9.]+)`).FindStringSubmatch(image)[1])
	type label struct {
		text               string
		left, right, lower float64
	}
	var labels []label
	for _, m := range regexp.MustCompile(`<text class="label"( text-anchor="middle")? x="([0-9.]+)" y="([0-9.]+)">([^<]+)<`).
		FindAllStringSubmatch(image, -1) {
		wide := float64(utf8.RuneCountInString(m[4])) * 6
		l := label{m[4], number(m[2]), number(m[2]) + wide, number(m[3])}
		if m[1] != "" {
			l.left, l.right = l.left-wide/2, l.right-wide/2
		}
		labels = append(labels, l)
	}
	if len(labels) != 7 {
		t.Fatalf("there are %d labels:\n%s", len(labels), image)
	}
	for i, a := range labels {
		if a.left < 0 || a.right > width {
			t.Errorf("%q leaves the image, which is %v wide: %v to %v", a.text, width, a.left, a.right)
		}
		for _, b := range labels[:i] {
			if a.left < b.right && b.left < a.right && math.Abs(a.lower-b.lower) < 12 {
				t.Errorf("%q covers %q: %+v %+v", a.text, b.text, a, b)
			}
		}
	}
}
