package view

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
)

// TestVisitShowsVariables: a visit has the variables that its state saw before those that it set.
func TestVisitShowsVariables(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	Visit(&out, &inspect.Visit{
		Path: "Pay", Type: "Pass", Status: "SUCCESS",
		Sees: atom.MustEncode(map[string]int{"a": 1}), Variables: atom.MustEncode(map[string]int{"b": 2}),
	}, Page{})
	if want := "  sees: {\"a\":1}\n  variables: {\"b\":2}\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q does not end with %q", out.String(), want)
	}
}
