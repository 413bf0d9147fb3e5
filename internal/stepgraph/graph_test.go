package stepgraph_test

import (
	"slices"
	"testing"

	"github.com/ebbflow/ebb/internal/stepgraph"
)

// TestStaying: a step that stays done counts if a step that can fail follows it or runs beside it, and no pivot surely
// precedes that step.
func TestStaying(t *testing.T) {
	t.Parallel()
	stays := stepgraph.Step{Stays: true, Fails: true}
	for name, test := range map[string]struct {
		steps []stepgraph.Step
		want  []int
		forks []stepgraph.Fork
	}{
		"empty":          {nil, nil, nil},
		"the last":       {[]stepgraph.Step{stays}, nil, nil},
		"before another": {[]stepgraph.Step{{Stays: true, Fails: true, Next: []int{1}}, {Fails: true}}, []int{0}, nil},
		"before what cannot fail": {
			[]stepgraph.Step{{Stays: true, Fails: true, Next: []int{1}}, {}}, nil, nil,
		},
		"before what catches its failure": {
			[]stepgraph.Step{{Stays: true, Fails: true, Next: []int{2}, Caught: []int{1}}, {Fails: true}, {}}, nil, nil,
		},
		"before a failure that is caught": {
			[]stepgraph.Step{{Stays: true, Next: []int{1}}, {Next: []int{3}, Caught: []int{2}}, {Fails: true}, {}}, []int{0}, nil,
		},
		"in a loop":      {[]stepgraph.Step{{Stays: true, Fails: true, Next: []int{0}}}, []int{0}, nil},
		"behind a pivot": {[]stepgraph.Step{{Pivot: true, Fails: true, Next: []int{1}}, {Stays: true, Next: []int{2}}, {Fails: true}}, nil, nil},
		"beside a pivot": {
			[]stepgraph.Step{{Next: []int{1, 2}}, {Pivot: true, Next: []int{2}}, {Stays: true, Next: []int{3}}, {Fails: true}}, []int{2}, nil,
		},
		"a pivot that failed": {
			[]stepgraph.Step{{Pivot: true, Fails: true, Next: []int{3}, Caught: []int{1}}, {Stays: true, Next: []int{2}}, {Fails: true}, {}}, []int{1}, nil,
		},
		"beside a failure": {
			[]stepgraph.Step{{Next: []int{1, 2}}, stays, {Fails: true}}, []int{1}, []stepgraph.Fork{{{1, 2}, {2, 3}}},
		},
		"beside what cannot fail": {
			[]stepgraph.Step{{Next: []int{1, 2}}, stays, {}}, nil, []stepgraph.Fork{{{1, 2}, {2, 3}}},
		},
		"beside an unreached failure": {
			[]stepgraph.Step{{Next: []int{1, 2}}, stays, {Pivot: true, Next: []int{3}}, {Fails: true}},
			nil,
			[]stepgraph.Fork{{{1, 2}, {2, 4}}},
		},
		"in one branch": {
			[]stepgraph.Step{{Next: []int{1, 4}}, {Next: []int{2, 3}}, stays, {Fails: true}, {}},
			nil,
			[]stepgraph.Fork{{{1, 4}, {4, 5}}},
		},
	} {
		if got := (&stepgraph.Graph{Steps: test.steps, Forks: test.forks}).Staying(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v; want %v", name, got, test.want)
		}
	}
}

// TestStayingConcurrent: steps that no edge orders run side by side. A step that stays done counts unless every step
// that can fail precedes it.
func TestStayingConcurrent(t *testing.T) {
	t.Parallel()
	stays := stepgraph.Step{Stays: true, Fails: true}
	for name, test := range map[string]struct {
		steps []stepgraph.Step
		want  []int
	}{
		"alone":           {[]stepgraph.Step{{Next: []int{1}}, stays}, nil},
		"two":             {[]stepgraph.Step{{Next: []int{1, 2}}, stays, stays}, []int{1, 2}},
		"beside one":      {[]stepgraph.Step{{Next: []int{1, 2}}, stays, {Fails: true}}, []int{1}},
		"beside no fault": {[]stepgraph.Step{{Next: []int{1, 2}}, stays, {}}, nil},
		"behind all":      {[]stepgraph.Step{{Next: []int{1, 2}}, {Fails: true, Next: []int{3}}, {Fails: true, Next: []int{3}}, stays}, nil},
		"beside a loop":   {[]stepgraph.Step{{Next: []int{1, 2}}, {Fails: true, Next: []int{1}}, stays}, []int{2}},
		"behind a loop":   {[]stepgraph.Step{{Next: []int{1}}, {Fails: true, Next: []int{1, 2}}, stays}, nil},
	} {
		if got := (&stepgraph.Graph{Steps: test.steps, Concurrent: true}).Staying(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v; want %v", name, got, test.want)
		}
	}
}
