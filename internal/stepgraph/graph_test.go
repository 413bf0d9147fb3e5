package stepgraph_test

import (
	"slices"
	"testing"

	"github.com/ebbflow/ebb/internal/stepgraph"
)

// TestStaying: a step that stays done counts if a step that can fail comes behind it, and no pivot surely before it.
func TestStaying(t *testing.T) {
	t.Parallel()
	stays := stepgraph.Step{Stays: true, Fails: true}
	for name, test := range map[string]struct {
		steps []stepgraph.Step
		want  []int
	}{
		"empty":          {nil, nil},
		"the last":       {[]stepgraph.Step{stays}, nil},
		"before another": {[]stepgraph.Step{{Stays: true, Fails: true, Next: []int{1}}, {Fails: true}}, []int{0}},
		"before what cannot fail": {
			[]stepgraph.Step{{Stays: true, Fails: true, Next: []int{1}}, {}}, nil,
		},
		"before what catches its failure": {
			[]stepgraph.Step{{Stays: true, Fails: true, Next: []int{2}, Caught: []int{1}}, {Fails: true}, {}}, nil,
		},
		"before a failure that is caught": {
			[]stepgraph.Step{{Stays: true, Next: []int{1}}, {Next: []int{3}, Caught: []int{2}}, {Fails: true}, {}}, []int{0},
		},
		"in a loop":      {[]stepgraph.Step{{Stays: true, Fails: true, Next: []int{0}}}, []int{0}},
		"behind a pivot": {[]stepgraph.Step{{Pivot: true, Fails: true, Next: []int{1}}, {Stays: true, Next: []int{2}}, {Fails: true}}, nil},
		"beside a pivot": {
			[]stepgraph.Step{{Next: []int{1, 2}}, {Pivot: true, Next: []int{2}}, {Stays: true, Next: []int{3}}, {Fails: true}}, []int{2},
		},
		"a pivot that failed": {
			[]stepgraph.Step{{Pivot: true, Fails: true, Next: []int{3}, Caught: []int{1}}, {Stays: true, Next: []int{2}}, {Fails: true}, {}}, []int{1},
		},
	} {
		if got := (&stepgraph.Graph{Steps: test.steps}).Staying(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v; want %v", name, got, test.want)
		}
	}
}
