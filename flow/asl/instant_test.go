package asl_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestThrough passes through iterations that only compute. No node is added for them, the way may take several answers,
// and the result equals that of nodes.
func TestThrough(t *testing.T) {
	t.Parallel()
	const items = 1200
	machine := func(more string) string { // more is a state that takes no time and is never entered, or makes nodes necessary
		return `{"StartAt": "Set", "States": {
			"Set": {"Type": "Pass", "Assign": {"limit.$": "$.limit"}, "Next": "Each"},
			"Each": {"Type": "Map", "ItemsPath": "$.items", "ItemSelector": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "in.$": "$.limit"},
				"ItemProcessor": {"StartAt": "Small", "States": {
					"Small": {"Type": "Choice", "Choices": [{"Variable": "$.i", "NumericGreaterThanPath": "$limit", "Next": "Bad"}], "Default": "Good"},
					"Good": {"Type": "Pass", "Assign": {"own.$": "$.v"}, "OutputPath": "$.v", "End": true},
					"Bad": {"Type": "Fail", "Error": "Large", "Cause": "it is"}` + more + `}},
				"ResultPath": "$.out", "Catch": [{"ErrorEquals": ["Large"], "Next": "Caught"}], "End": true},
			"Caught": {"Type": "Succeed"}}}`
	}
	input := func(limit int) string {
		return fmt.Sprintf(`{"limit": %d, "items": [%s]}`, limit, strings.TrimSuffix(strings.Repeat("7,", items), ","))
	}
	for _, limit := range []int{items, 700, -1} {
		at := simulate(t, parse(t, machine(``)), input(limit), nil)
		nodes := simulate(t, parse(t, machine(`, "Never": {"Type": "Wait", "Seconds": 1, "End": true}`)), input(limit), nil)
		if got, want := ending(at), ending(nodes); got != want || len(at.events) != len(nodes.events) {
			t.Errorf("limit %d: %.200s after %d events; with nodes %.200s after %d", limit, got, len(at.events), want, len(nodes.events))
		}
		for i := range min(len(at.events), len(nodes.events)) {
			a, b := at.events[i], nodes.events[i]
			if a.Type != b.Type || a.Prev != b.Prev || a.Details.String() != b.Details.String() || a.Body.String() != b.Body.String() {
				t.Fatalf("limit %d: event %d is %s %d %s; with nodes %s %d %s", limit, i+1, a.Type, a.Prev, a.Details, b.Type, b.Prev, b.Details)
			}
		}
		if limit == items && (at.asked < 4 || at.asked > 10) {
			t.Errorf("%d answers for %d states in iterations", at.asked, 2*items)
		}
	}
}

// TestThroughAgain tries a Parallel state again whose branches only compute: between
// two tries it waits, and it counts them.
func TestThroughAgain(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Parallel", "Parameters": {"n.$": "$$.State.RetryCount"}, "Branches": [{"StartAt": "Once", "States": {
		"Once": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericLessThan": 2, "Next": "Boom"}], "Default": "Done"},
		"Boom": {"Type": "Fail", "Error": "Boom"}, "Done": {"Type": "Succeed"}}}], "Retry": [{"ErrorEquals": ["Boom"]}], "End": true}`))
	s := simulate(t, m, `{}`, nil)
	if got := ending(s); got != `SUCCEEDED [{"n":2}]` || s.now.Sub(epoch).Seconds() != 3 {
		t.Errorf("%s after %s", got, s.now.Sub(epoch))
	}
}
