package asl_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow/asl"
)

// TestContextWarnings: both query languages are warned of what the context object does not have in a state, and
// JSONPath of what only JSONata evaluates; and a pattern needs a service integration.
func TestContextWarnings(t *testing.T) {
	t.Parallel()
	const (
		token = `{"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters":
			{"QueueUrl": "u", "MessageBody.$": "$$.Task.Token"}, "End": true}`
		inBranch = `{"Type": "Map", "End": true, "ItemSelector": {"i.$": "$$.Map.Item.Index"}, "ItemProcessor":
			{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "B", "States":
			{"B": {"Type": "Pass", "Parameters": {"i.$": "$$.Map.Item.Value"}, "End": true}}}]}}}}`
		jsonata = `{"QueryLanguage": "JSONata", "Type": "Pass", "End": true, "Output": `
	)
	for name, c := range map[string]struct{ state, want string }{
		"token":               {token, ""},
		"token of a Pass":     {pass(`"$$.Task.Token"`), "$$.Task.Token is there only in a Task that waits for its token (let its Resource end in .waitForTaskToken)"},
		"item":                {inBranch, ""},
		"item without Map":    {pass(`"$$.Map.Item.Value.id"`), "$$.Map.Item.Value is there only in a Map state and the states in it"},
		"input":               {pass(`"$$.Execution.Input.Idd"`), ""},
		"misspelled":          {pass(`"$$.Execution.Idd"`), "the context object has no $$.Execution.Idd (did you mean $$.Execution.Id?)"},
		"JSONata":             {jsonata + `"{% $states.context.Execution.Input.Idd & $states.context.State.Name %}"}`, ""},
		"JSONata, misspelled": {jsonata + `"{% $states.context.Execution.Idd %}"}`, "the context object has no $states.context.Execution.Idd (did you mean $states.context.Execution.Id?)"},
		"JSONata, no Map":     {jsonata + `"{% $states.context.Map.Item.Index %}"}`, "$states.context.Map.Item.Index is there only in a Map state and the states in it"},
		"expression": {
			`{"Type": "Pass", "Parameters": {"a": ["{% 1 %}"]}, "End": true}`,
			`an entry of a looks like an expression of JSONata but is taken as it stands (set "QueryLanguage": "JSONata")`,
		},
		"pattern of a function": {
			`{"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f.waitForTaskToken", "End": true}`,
			"the ARN of a Lambda function has no pattern .waitForTaskToken " +
				"(write arn:aws:states:::lambda:invoke.waitForTaskToken, and FunctionName in its parameters)",
		},
		"no expression": {`{"Type": "Pass", "Result": {"a": "{% 1 %}"}, "Parameters": {"b": "{% open"}, "End": true}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse("m", []byte(`{"StartAt": "A", "States": {"A": `+c.state+`}}`))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, w := range m.Warnings() {
				got += w.Message
				if w.Fix != "" {
					got += " (" + w.Fix + ")"
				}
			}
			if c.want != "" {
				c.want = `state "A": ` + c.want
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func pass(path string) string {
	return `{"Type": "Pass", "Parameters": {"x.$": ` + path + `}, "End": true}`
}
