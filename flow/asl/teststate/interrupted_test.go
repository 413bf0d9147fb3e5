package teststate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/teststate"
)

// TestInterrupted: a test whose caller has left ends soon, whatever the state computes.
//
// Attack (AWS clients): TestState of a state with 15,000 expensive paths, from a client that leaves.
// Result: The test ends with the request.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	input := atom.FromJSON([]byte(`{"s": [` + strings.TrimSuffix(strings.Repeat("[1, 1, 1, 1, 1, 1, 1, 1],", 5000), ",") + `]}`))
	many := func(format string) string {
		var b strings.Builder
		for i := range 15_000 {
			fmt.Fprintf(&b, format, i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	for name, state := range map[string]string{
		"rules": `{"Type": "Choice", "Default": "B", "Choices": [{"Next": "A", "Or": [` +
			many(`{"Variable": "$..*..*", "IsString": true, "Comment": "%d"},`) + `]}]}`,
		"template": `{"Type": "Pass", "End": true, "Parameters": {` + many(`"%d.$": "$..[?(@.none)]",`) + `}}`,
		"queries":  `{"Type": "Pass", "End": true, "QueryLanguage": "JSONata", "Output": "{% [1..300000][$ > 7] %}"}`,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := teststate.Run(ctx, &teststate.Test{Definition: []byte(state), Input: input})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}
