package check

import (
	"slices"
	"testing"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// TestOtherLanguage: a field of the other query language is one problem, whose fix says what to write instead.
func TestOtherLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ machine, state, want string }{
		{"JSONata", `"Parameters": {"a.$": "$.a"}`, `write "Arguments", with values such as "{% $states.input.x %}"`},
		{"JSONata", `"InputPath": "$.order"`, `write "Arguments": "{% $states.input.order %}"`},
		{"JSONata", `"ResultPath": "$.x"`, `write "Output": "{% $states.result %}"`},
		{"JSONata", `"ResultSelector": {"a.$": "$.a"}`, `write "Output", with values such as "{% $states.result %}"`},
		{"JSONata", `"OutputPath": "$$.Execution.Id"`, `write "Output": "{% $states.context.Execution.Id %}"`},
		{"JSONata", `"TimeoutSecondsPath": "$.a[0]"`, `write "TimeoutSeconds": "{% $states.input.x %}"`},
		{
			"JSONPath", `"QueryLanguage": "JSONata", "InputPath": "$.a"`,
			`write "Arguments": "{% $states.input.a %}", or set "QueryLanguage": "JSONPath"`,
		},
		{"JSONPath", `"Arguments": {"a": 1}`, `write "Parameters", or set "QueryLanguage": "JSONata"`},
		{"JSONPath", `"Output": 1`, `write "ResultSelector", or set "QueryLanguage": "JSONata"`},
		{"JSONata", `"Next": "B"}, "B": {"Type": "Pass", "ResultPath": null`, `write "Output": "{% $states.input %}"`},
		{"JSONata", `"Next": "B"}, "B": {"Type": "Pass", "Result": {"a": 1}`, `write "Output", with values such as "{% $states.input.x %}"`},
		{
			"JSONata", `"Next": "C"}, "C": {"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "B"}]}, "B": {"Type": "Pass"`,
			`write "Condition": "{% $states.input.x > 1 %}"`,
		},
	} {
		text := []byte(`{"QueryLanguage": "` + c.machine + `", "StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "r:x", ` +
			c.state + `, "End": true}}}`)
		_, all := Definition("d", text, Options{Profile: syntax.AWS})
		problems := slices.DeleteFunc([]flow.Diagnostic(all), func(p flow.Diagnostic) bool { return p.Rule != "language-field" })
		if len(problems) != 1 {
			t.Errorf("%s: %v", c.state, all)
			continue
		}
		if got := problems[0].Fix; got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.state, got, c.want)
		}
	}
}
