package digraph_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/internal/digraph"
)

func TestLoops(t *testing.T) {
	t.Parallel()
	edges := map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"d", "e"}, "e": nil, "f": {"a"}}
	var got [][]string
	digraph.Loops([]string{"a", "b", "c", "d", "e", "f"}, func(n string) []string { return edges[n] },
		func(loop []string) {
			got = append(got, slices.Sorted(slices.Values(loop)))
		})
	if want := [][]string{{"d"}, {"b", "c"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
