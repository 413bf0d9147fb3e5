package engine_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// shown are features by name, each with a few lines that show it. They run in virtual time, each on its own stage.
type shown map[string]func(t *testing.T, s *stage)

var allShown = []shown{patterns, deciders, arguments, retries, badEnds, resting, watching}

// TestParity shows TaskFlow's features in Ebb, through the public API only. The rows of docs/reference/taskflow-features.md
// say which subtest shows which feature.
func TestParity(t *testing.T) {
	t.Parallel()
	for _, features := range allShown {
		for name, show := range features {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { show(t, &stage{}) })
			})
		}
	}
}

// TestParityPage: the last column of the page names each subtest of TestParity, and no other. The test of the guarantees
// looks for the other tests that the page names.
func TestParityPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reference/taskflow-features.md")
	if err != nil {
		t.Fatal(err)
	}
	named, subtests := map[string]bool{}, map[string]bool{}
	for row := range strings.Lines(string(page)) {
		cells := strings.Split(row, " | ")
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[len(cells)-1], -1) {
			named[m[1]] = true
		}
	}
	for _, some := range allShown {
		for name := range some {
			subtests[strings.ReplaceAll(name, " ", "_")] = true // as package testing has it
		}
	}
	if diff := cmp.Diff(subtests, named); diff != "" {
		t.Errorf("the page names other subtests (-there +named):\n%s", diff)
	}
}

// inOrder executes atoms one after the other, so that tests can check their order.
var inOrder = engine.WithParallelism(1)

// play runs a flow, which must succeed.
func play(t *testing.T, root flow.Node, opts ...engine.Option) *engine.Result {
	t.Helper()
	res, err := newEngine(t, root, append([]engine.Option{inOrder}, opts...)...).Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// undone runs a flow that is undone, and returns the reason.
func undone(t *testing.T, root flow.Node, opts ...engine.Option) []*atom.Failure {
	t.Helper()
	_, err := newEngine(t, root, append([]engine.Option{inOrder}, opts...)...).Run(t.Context(), "r")
	return reverted(t, err).Failures
}

// wantRefused expects an error of the definition before anything runs.
func wantRefused(t *testing.T, kind error, root flow.Node, opts ...engine.Option) {
	t.Helper()
	if _, err := engine.New(root, memstore.New(), opts...); !errors.Is(err, kind) {
		t.Errorf("got %v; want %v", err, kind)
	}
}

// wantValue compares the final value of a symbol.
func wantValue(t *testing.T, res *engine.Result, symbol, want string) {
	t.Helper()
	if v, ok := res.Value(symbol); !ok || v.String() != want {
		t.Errorf("%s is %s; want %s", symbol, v, want)
	}
}
