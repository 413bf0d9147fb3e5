package teststate_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/teststate"
)

// TestStepsOfVisit evaluates very many paths and functions in one state. Together they have one bound.
//
// Attack (Definitions and expressions): 20,000 paths or intrinsic functions in one state, each within its own limit,
// such as `States.StringToJson(States.JsonToString($))` of a large input.
// Result: One bound for a visit to a state: less than 1.5 GiB allocated.
func TestStepsOfVisit(t *testing.T) { //nolint:paralleltest // it measures memory
	numbers := strings.TrimSuffix(strings.Repeat("12345,", 30_000), ",")
	input := atom.FromJSON([]byte(`{"a": [` + numbers + `]}`))
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	pass := func(n int, value string) string {
		return `{"Type": "Pass", "End": true, "Parameters": {` + many(n, `"%d.$": "`+value+`",`) + `}}`
	}
	for _, state := range []string{
		pass(15_000, "States.StringToJson(States.JsonToString($))"), pass(20_000, "States.ArrayUnique($.a)"),
		pass(15_000, "States.ArrayContains($.a, 'none')"), pass(20_000, "$..*"), pass(20_000, "$.a[?(@ == 1)]"),
		`{"Type": "Pass", "End": true, "Parameters": {"x.$": "States.Array(` +
			strings.Repeat("States.ArrayPartition($.a, 1),", 4000) + `$)"}}`,
		`{"Type": "Choice", "Default": "B", "Choices": [{"Next": "A", "Or": [` +
			many(15_000, `{"Variable": "$..none", "IsString": true, "Comment": "%d"},`) + `]}]}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, err := teststate.Run(t.Context(), &teststate.Test{Definition: []byte(state), Input: input})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if result.Error != "States.Runtime" || !strings.Contains(result.Cause, "too many steps") {
			t.Errorf("%.150s: %s %s %.200s", state, result.Status, result.Error, result.Cause)
		}
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 1536 {
			t.Errorf("%.150s: %d MiB", state, made)
		}
	}
	usual := pass(100, "$..b")
	result, err := teststate.Run(t.Context(), &teststate.Test{Definition: []byte(usual), Input: input})
	if err != nil || result.Status != teststate.Succeeded {
		t.Errorf("100 paths: %v %v", result, err)
	}
}
