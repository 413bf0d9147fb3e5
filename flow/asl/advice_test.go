package asl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow/asl"
)

// TestOneMessage: of each mistake there is one message, which has the fix.
func TestOneMessage(t *testing.T) {
	t.Parallel()
	const (
		jsonata = `"QueryLanguage": "JSONata", `
		task    = `"Type": "Task", "End": true, "Resource": "arn:aws:states:::`
		each    = `"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "B", "States": {"B": {"Type": "Pass", "End": true}}`
		many    = each + `, "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}, `
		toC     = `"Next": "C"}]`
	)
	for name, c := range map[string]struct{ state, want string }{
		"path in JSONata": {
			jsonata + `"Type": "Wait", "End": true, "SecondsPath": "$.a"`,
			`SecondsPath is for QueryLanguage JSONPath (write "Seconds": "{% $states.input.a %}", or set "QueryLanguage": "JSONPath")`,
		},
		"comparison beside a condition": {
			jsonata + `"Type": "Choice", "Choices": [{"Condition": "{% true %}", "NumericEquals": 1, ` + toC,
			`NumericEquals is for QueryLanguage JSONPath (leave it out: Condition decides, or set "QueryLanguage": "JSONPath")`,
		},
		"condition without braces": {
			jsonata + `"Type": "Choice", "Choices": [{"Condition": "$states.input.a", ` + toC,
			`Condition must be an expression between {% and %}, true or false (write "{% $states.input.a %}")`,
		},
		"expression for a number": {
			`"Type": "Wait", "End": true, "Seconds": "{% 5 %}"`,
			`Seconds must be a whole number from 0 to 99999999 (set "QueryLanguage": "JSONata")`,
		},
		"expression for a text": {
			`"Type": "Fail", "Error": "{% 'x' %}"`,
			`Error looks like an expression of JSONata but is taken as it stands (set "QueryLanguage": "JSONata")`,
		},
		"mode": {
			each + `, "ProcessorConfig": {"Mode": "distributed", "ExecutionType": "STANDARD"}}`,
			`Mode must be "INLINE" or "DISTRIBUTED" (did you mean "DISTRIBUTED"?)`,
		},
		"reader": {
			many + `"ItemReader": {"Resource": "arn:aws:states:::s3:getObjects"}`,
			`s3:getObjects does not read or write the items of a Map (did you mean s3:getObject?)`,
		},
		"parameter of a reader": {
			many + `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b"}}`,
			`s3:getObject needs the parameter Key`,
		},
		"parameter of a writer": {
			many + `"ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Prefix": "p"}}`,
			`s3:putObject needs the parameter Bucket`,
		},
		"service":   {task + `sq:sendMessage"`, `"sq" is not an optimized service (did you mean sqs?)`},
		"no action": {task + `sqs"`, `the resource names no action of the service sqs (such as sqs:sendMessage)`},
		"service of the SDK": {
			task + `aws-sdk:stepfunctions:startExecution"`,
			`"stepfunctions" is not known as a service of AWS's SDK (did you mean sfn?)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `{"StartAt": "A", "States": {"A": {` + c.state + `}`
			if strings.Contains(c.state, toC) {
				text += `, "C": {"Type": "Succeed"}`
			}
			var said []string
			for _, d := range asl.Validate("m", []byte(text+`}}`)) {
				message := strings.TrimPrefix(d.Message, `state "A": `)
				if d.Fix != "" {
					message += " (" + d.Fix + ")"
				}
				said = append(said, message)
			}
			if diff := cmp.Diff([]string{c.want}, said); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKnownCalls: calls of services as AWS documents them are valid, without a warning.
func TestKnownCalls(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile(filepath.Join("testdata", "calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		resource, parameters, _ := strings.Cut(strings.TrimSpace(line), " ")
		if resource == "#" {
			continue
		}
		n++
		found := asl.Validate("m", []byte(`{"StartAt": "A", "States": {"A": {"Type": "Task", "End": true, "Resource":
"arn:aws:states:::`+resource+`", "Parameters": `+parameters+`}}}`))
		for _, d := range found {
			if d.Rule != "task-token" { // not all of them hand the token on
				t.Errorf("%s: %s", resource, d.String())
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d calls", n)
	}
}
