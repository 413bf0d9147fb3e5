package failat

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type node struct {
	Name string
	Next *node
	all  map[string]*node
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	waiting := &node{Name: "a"}
	waiting.Next = &node{Name: "b", Next: waiting}
	waiting.all = map[string]*node{"a": waiting}
	type inner struct {
		N  int
		up any
	}
	for name, c := range map[string]struct {
		state any
		want  []string
	}{
		"nothing":       {nil, []string{"State: nil"}},
		"number":        {7, []string{"State: 7"}},
		"text":          {"a\nb", []string{`State: "a\nb"`}},
		"bytes":         {[]byte("ab"), []string{`State: "ab"`}},
		"duration":      {[]time.Duration{time.Minute}, []string{"State[0]: 1m0s"}},
		"time":          {time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), []string{"State: 2026-01-02T03:04:05.000000006Z"}},
		"error":         {errors.New("no"), []string{"State: no"}},
		"has a text":    {netip.MustParseAddr("::1"), []string{"State: ::1"}},
		"nil pointer":   {struct{ P *int }{}, []string{"State.P: nil"}},
		"nil and empty": {struct{ A, B map[string]int }{B: map[string]int{}}, []string{"State.A: empty", "State.B: empty"}},
		"slices":        {struct{ A, B []int }{B: []int{}}, []string{"State.A: empty", "State.B: empty"}},
		"map":           {map[string]int{"b": 2, "a": 1}, []string{`State["a"]: 1`, `State["b"]: 2`}},
		"map by number": {map[int]bool{10: true, 9: true, -1: false}, []string{
			"State[-1]: false", "State[9]: true",
			"State[10]: true",
		}},
		"map by struct": {map[inner]int{{1, "x"}: 2}, []string{"State[{1 x}]: 2"}},
		"array": {[2]inner{{1, nil}, {2, inner{3, true}}}, []string{
			"State[0].N: 1", "State[0].up: nil",
			"State[1].N: 2", "State[1].up.N: 3", "State[1].up.up: true",
		}},
		"empty struct": {struct{}{}, []string{"State: {}"}},
		"function":     {[]func(){nil, func() {}}, []string{"State[0]: nil", "State[1]: func"}},
		"ring": {waiting, []string{
			`State.Name: "a"`, `State.Next.Name: "b"`, "State.Next.Next: the same as State", "State.Next.all: empty",
			`State.all["a"]: the same as State`,
		}},
	} {
		s := snap(c.state)
		var got []string
		for _, place := range s.order {
			got = append(got, place+": "+s.at(place))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSnapshotIsApart shows that a snapshot does not change with the state.
func TestSnapshotIsApart(t *testing.T) {
	t.Parallel()
	state := map[string][]int{"a": {1}}
	before := snap(state)
	state["a"][0] = 2
	state["b"] = nil
	want := []change{{`State["a"][0]`, "1", "2"}, {`State["b"]`, nothing, empty}}
	if diff := cmp.Diff(want, before.diff(snap(state)), cmp.AllowUnexported(change{})); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	type state struct {
		M map[string]int
		L []string
	}
	for name, c := range map[string]struct {
		from, to any
		want     []change
	}{
		"same":         {state{L: []string{"a"}}, state{M: map[string]int{}, L: []string{"a"}}, nil},
		"filled":       {state{}, state{M: map[string]int{"a": 1}}, []change{{`State.M["a"]`, nothing, "1"}}},
		"emptied":      {state{L: []string{"a"}}, state{}, []change{{"State.L[0]", `"a"`, nothing}}},
		"another kind": {1, "1", []change{{"State", "1", `"1"`}}},
		"gone and new": {map[string]int{"a": 1}, map[string]int{"b": 1}, []change{
			{`State["a"]`, "1", nothing},
			{`State["b"]`, nothing, "1"},
		}},
		"empty element": {map[string][]int{}, map[string][]int{"a": {}}, []change{{`State["a"]`, nothing, empty}}},
	} {
		got := snap(c.from).diff(snap(c.to))
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(change{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
