package casetest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/casetest"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
)

// open writes a definition and its case file, and opens them.
func open(t *testing.T, machine, cases string) *casetest.Suite {
	t.Helper()
	suite, err := tryOpen(t, machine, cases)
	if err != nil {
		t.Fatal(err)
	}
	return suite
}

func tryOpen(t *testing.T, machine, cases string) (*casetest.Suite, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"m.asl.json": machine, "m.test.yaml": cases} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := casetest.Read(filepath.Join(dir, "m.test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return casetest.Open(file, definition.Reading{})
}

// TestPathInCase: who names a state as ebb show does, with the path of its visit, is told its name.
func TestPathInCase(t *testing.T) {
	t.Parallel()
	_, err := tryOpen(t, `{"StartAt": "All", "States": {"All": {"Type": "Map", "End": true, "ItemProcessor": {
		"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "x:pay", "End": true}}}}}}`,
		`cases: [{name: a, expect: {undone: ["All[0]/Pay#2"]}}]`)
	if err == nil || !strings.Contains(err.Error(), `(did you mean "Pay"? A case names a state without the path of its visit)`) {
		t.Error(err)
	}
}

// TestSameWayEachTime: branches that run at once always go the same way, so that a path can be expected of them, and take
// the answers of a mock in their order.
func TestSameWayEachTime(t *testing.T) {
	t.Parallel()
	branch := `{"StartAt": "@1", "States": {"@1": {"Type": "Task", "Resource": "x:a", "Next": "@2"}, "@2": {"Type": "Task", "Resource": "x:b", "End": true}}}`
	var branches, mocks []string
	for _, n := range []string{"A", "B", "C", "D", "E"} {
		branches = append(branches, strings.ReplaceAll(branch, "@", n))
	}
	mocks = append(mocks, "x:a: {result: 0}",
		"x:b: [{result: 1, times: 1}, {result: 2, times: 1}, {result: 3, times: 1}, {result: 4, times: 1}, {result: 5}]")
	suite := open(t, `{"StartAt": "All", "States": {"All": {"Type": "Parallel", "End": true, "Branches": [`+strings.Join(branches, ",")+`]}}}`,
		"mocks: {"+strings.Join(mocks, ", ")+"}\ncases: [{name: a, expect: {output: [1, 2, 3, 4, 5]}}]")
	var first []string
	for range 100 {
		r := suite.Run(t.Context(), suite.File.Cases[0], time.Minute)
		if !r.Passed {
			t.Fatal(r.Mismatches)
		}
		if first == nil {
			first = r.Path
		}
		if !slices.Equal(r.Path, first) {
			t.Fatalf("a run went\n%v, the first one\n%v", r.Path, first)
		}
	}
	if len(first) != 11 {
		t.Errorf("the path is %v", first)
	}
}

// TestStopped: the caller ends a case that never ends by itself.
func TestStopped(t *testing.T) {
	t.Parallel()
	suite := open(t, `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 1, "Next": "B"},
		"B": {"Type": "Choice", "Choices": [{"Variable": "$", "IsPresent": true, "Next": "A"}], "Default": "C"}, "C": {"Type": "Succeed"}}}`,
		"cases: [{name: a}]")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := suite.Run(ctx, suite.File.Cases[0], time.Minute); r.Passed || !strings.Contains(r.Mismatches[0].What, "canceled") {
		t.Errorf("%+v", r)
	}
}
