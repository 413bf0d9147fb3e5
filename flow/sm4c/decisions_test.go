package sm4c_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/pagetest"
)

// A decision is a row of docs/reference/sm4c-decisions.md: a subject on which the text of the language is silent, or
// which the original engine contradicts.
type decision struct {
	subject string
	// ebb says what Ebb does.
	ebb string
	// cases are names of cases in internal/conformance/testdata/sm4c, without own/.
	cases []string
	// test is a test that shows the decision, with its folder.
	test string
}

// decisions keep their numbers: comments of the language refer to them.
var decisions = []decision{
	{
		subject: "call without `waitForCompletion`",
		ebb:     "does not wait; with `\"waitDefault\": true` or `sm4c.WaitDefault`, it waits, as in the original",
		cases:   []string{"a function that is not waited for", "waitDefault makes calls wait"},
	},
	{
		subject: "`inputFilter`", ebb: "evaluated once, when the state is entered",
		cases: []string{"the input filter is a view"},
	},
	{
		subject: "result handler", ebb: "sees all data; its output replaces the data, no output keeps them",
		cases: []string{"a result handler replaces the data", "a result handler without output keeps the data"},
	},
	{
		subject: "`exitAction` of a final state", ebb: "does not run",
		cases: []string{"exit actions, and not of a final state"},
	},
	{
		subject: "transition without `nextState`",
		ebb:     "internal. A machine that repeats itself fails with [`SM4C.Livelock`](limits.md#state-machines-for-cloud)",
		cases:   []string{"an internal transition does not enter again"}, test: "engine: TestLivelocksOfSM4C",
	},
	{
		subject: "two unconditional transitions, or two with only a timeout", ebb: "refused",
		cases: []string{"two implicit transitions", "two transitions with only a timeout"},
	},
	{
		subject: "transition with several kinds of trigger", ebb: "never taken; a warning",
		cases: []string{"a transition with two kinds of trigger is never taken"},
	},
	{subject: "no transition can fire", ebb: "`SM4C.Stuck`", cases: []string{"nothing can fire"}},
	{
		subject: "events not consumed", ebb: "stay in the inbox for later states",
		cases: []string{"an event that is not consumed stays for a later state"},
	},
	{
		subject: "which event a definition means",
		ebb:     "the subject, if given; then type and source. A bare name is the type",
		cases:   []string{"the subject of an event says which definition it is of", "an event"},
	},
	{subject: "one event for several groups", ebb: "allowed", cases: []string{"one event satisfies two groups"}},
	{
		subject: "condition of a group", ebb: "sees the event, and the state's view as `$data`",
		cases: []string{"the condition of a group sees the event and the view"},
	},
	{subject: "`maxAttempts`", ebb: "counts retries", cases: []string{"retries"}},
	{
		subject: "`foreach`", ebb: "one at a time, or up to `maxParallel` in a sliding window",
		cases: []string{"one after the other", "a window of two"},
	},
	{
		subject: "`xor`", ebb: "the first to finish decides, even if it fails",
		cases: []string{"the first of two", "the first to finish decides, though it fails"},
	},
	{subject: "other branches of `xor`", ebb: "are cancelled", cases: []string{"the first of two"}},
	{
		subject: "timeout of the machine",
		ebb:     "`timeout` or `execTimeout`; its action runs, then the run has timed out",
		cases:   []string{"the action of a machine's timeout runs, and the run has timed out"},
	},
	{
		subject: "subflow without `arguments`", ebb: "receives the view",
		cases: []string{"a subflow without arguments is given the view"},
	},
	{
		subject: "texts in arguments", ebb: "expressions at any depth",
		cases: []string{"expressions in arguments at any depth"},
	},
	{
		subject: "expression with two outputs", ebb: "an error; without output, null",
		cases: []string{"an expression with two outputs is an error", "an expression without output is null"},
	},
	{
		subject: "references", ebb: "checked when parsed: exactly first, then ignoring case",
		cases: []string{"a reference in another case"}, test: "flow/sm4c: TestProblems",
	},
	{subject: "exhausted retry", ebb: "fails the action", cases: []string{"retries exhausted"}},
	{
		subject: "call that is not waited for", ebb: "drops result and error; a failed start is an error",
		cases: []string{"a function that is not waited for"},
	},
	{
		subject: "timeout of a call", ebb: "counts from its start; cancels a function, but not a subflow",
		cases: []string{"a call that takes too long gives null"},
	},
}

// TestDecisionsPage writes the page of decisions, or compares it. Run it with -update to write the page. Each decision
// names cases that exist, which engine: TestConformanceSM4C plays.
func TestDecisionsPage(t *testing.T) {
	t.Parallel()
	known := ownCases(t)
	for i, d := range decisions {
		for _, name := range d.cases {
			if !known["own/"+name] {
				t.Errorf("decision %d: there is no case own/%s", i+1, name)
			}
		}
		if len(d.cases) == 0 {
			t.Errorf("decision %d names no case", i+1)
		}
	}
	pagetest.Check(t, "../../docs/reference/sm4c-decisions.md", decisionsPage(), *updateSchema)
}

// ownCases returns the names of the cases in the repository.
func ownCases(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../internal/conformance/testdata/sm4c/own.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range bytes.Lines(text) {
		var c struct{ Name string }
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		names[c.Name] = true
	}
	return names
}

func decisionsPage() string {
	var page strings.Builder
	page.WriteString("<!-- Generated by \"go test ./flow/sm4c -run TestDecisionsPage -update\". Do not edit. -->\n\n" +
		"# Decisions on State Machines For Cloud\n\n" +
		"On these subjects, the text of the language is silent, or the original engine contradicts it.\n" +
		"`engine: TestConformanceSM4C` plays the cases, which are in `internal/conformance/testdata/sm4c`.\n\n" +
		"| # | subject | Ebb | case or test |\n|---|---|---|---|\n")
	for i, d := range decisions {
		var shown []string
		for _, name := range d.cases {
			shown = append(shown, "`own/"+name+"`")
		}
		if d.test != "" {
			shown = append(shown, "`"+d.test+"`")
		}
		fmt.Fprintf(&page, "| %d | %s | %s | %s |\n", i+1, d.subject, d.ebb, strings.Join(shown, ", "))
	}
	return page.String()
}
