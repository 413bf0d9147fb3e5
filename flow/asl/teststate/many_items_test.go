package teststate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/teststate"
)

// TestManyItems evaluates the ItemSelector of many items: the time for each does not grow with their number.
func TestManyItems(t *testing.T) {
	t.Parallel()
	const n = 10_000
	items := "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]"
	for _, selector := range []string{
		`"ItemSelector": {"v.$": "$$.Map.Item.Value", "e.$": "$$.Execution.Name"}`,
		`"QueryLanguage": "JSONata", "ItemSelector": "{% $states.context.Map.Item.Index %}"`,
	} {
		for _, mode := range []string{`"DISTRIBUTED", "ExecutionType": "EXPRESS"`, `"INLINE"`} {
			result, err := teststate.Run(t.Context(), &teststate.Test{
				Definition: fmt.Appendf(nil, `{"Type": "Map", %s, "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": %s},
					"StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}}`, selector, mode),
				Input: atom.FromJSON([]byte(items)), Mock: mockResult(items),
			})
			if err != nil {
				t.Fatal(err)
			}
			if result.Status != teststate.Succeeded && !strings.Contains(result.Cause, "steps") {
				t.Errorf("%s: %s %s", selector, result.Error, result.Cause)
			}
		}
	}
}
