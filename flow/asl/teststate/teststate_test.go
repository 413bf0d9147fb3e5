package teststate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/teststate"
)

func mockResult(text string) *teststate.Mock { return &teststate.Mock{Result: []byte(text)} }

func mockError(name string) *teststate.Mock {
	return &teststate.Mock{ErrorOutput: &teststate.ErrorOutput{Error: name, Cause: "why"}}
}

// reading returns a Map state that reads its items from the object k of the bucket b.
func reading(config string) string {
	return `{"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": ` + config + `, "Parameters": {"Bucket": "b", "Key": "k"}},
		"ItemSelector": {"v.$": "$$.Map.Item.Value", "from.$": "$$.Map.Item.Source"}, "End": true,
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}}`
}

// What a tested state comes to, and how its data looked on the way.
func TestStateAlone(t *testing.T) {
	t.Parallel()
	retried := `{"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"MessageBody.$": "$.m"}, "Next": "B",
		"Retry": [{"ErrorEquals": ["Other"]}, {"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "BackoffRate": 3, "MaxAttempts": 2, "JitterStrategy": "FULL"}],
		"Catch": [{"ErrorEquals": ["States.TaskFailed"], "ResultPath": "$.e", "Assign": {"c.$": "$.Error"}, "Next": "C"}]}`
	for _, c := range []struct {
		name       string
		test       teststate.Test
		want       string // status, output or error, next state
		inspection string
	}{
		{
			"a task",
			teststate.Test{Definition: []byte(retried), Mock: mockResult(`{"MessageId": "1"}`), Input: atom.FromJSON([]byte(`{"m": "x"}`))},
			`SUCCEEDED {"MessageId": "1"} B`,
			`{"input":{"m":"x"},"afterInputPath":{"m":"x"},"afterParameters":{"MessageBody":"x"},"result":{"MessageId":"1"},` +
				`"afterResultSelector":{"MessageId":"1"},"afterResultPath":{"MessageId":"1"}}`,
		},
		{
			"retried",
			teststate.Test{Definition: []byte(retried), Mock: mockError("Busy"), Input: atom.FromJSON([]byte(`{"m":1}`)), Configuration: teststate.Configuration{RetrierRetryCount: 1}},
			`RETRIABLE Busy why`,
			`{"input":{"m":1},"afterInputPath":{"m":1},"afterParameters":{"MessageBody":1},"errorDetails":{"retryIndex":1,"retryBackoffIntervalSeconds":6}}`,
		},
		{
			"caught",
			teststate.Test{Definition: []byte(retried), Mock: mockError("Busy"), Input: atom.FromJSON([]byte(`{"m":1}`)), Configuration: teststate.Configuration{RetrierRetryCount: 2}},
			`CAUGHT_ERROR {"m":1,"e":{"Error":"Busy","Cause":"why"}} C Busy why`,
			`{"input":{"m":1},"afterInputPath":{"m":1},"afterParameters":{"MessageBody":1},"variables":{"c":"Busy"},"errorDetails":{"retryIndex":1,"catchIndex":0}}`,
		},
		{
			"what cannot be evaluated",
			teststate.Test{Definition: []byte(retried), Mock: mockResult(`{}`)},
			`FAILED States.Runtime The JSONPath '$.m' specified for the field 'MessageBody.$' could not be found in the input '{}'`,
			`{"input":{},"afterInputPath":{}}`,
		},
		{
			"a Wait does not wait",
			teststate.Test{Definition: []byte(`{"Type": "Wait", "Seconds": 9999, "Next": "B"}`)},
			`SUCCEEDED {} B`, `{"input":{},"afterInputPath":{}}`,
		},
		{
			"a Fail",
			teststate.Test{Definition: []byte(`{"Type": "Fail", "ErrorPath": "$.e"}`), Input: atom.FromJSON([]byte(`{"e":"E"}`))},
			`FAILED E `, `{"input":{"e":"E"},"afterInputPath":{"e":"E"}}`,
		},
		{
			"deep in a machine",
			teststate.Test{
				Definition: []byte(`{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "Q", "States": {
					"Q": {"Type": "Pass", "Parameters": {"v.$": "$v"}, "Assign": {"w": 2}, "End": true}}}]}}}`),
				StateName: "Q", Variables: atom.FromJSON([]byte(`{"v":1}`)),
			},
			`SUCCEEDED {"v":1}`,
			`{"input":{},"afterInputPath":{},"afterParameters":{"v":1},"afterResultSelector":{"v":1},"afterResultPath":{"v":1},"variables":{"v":1,"w":2}}`,
		},
		{
			"an inline Map",
			teststate.Test{
				Definition: []byte(`{"Type": "Map", "ItemsPath": "$.all", "ItemSelector": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value"}, "MaxConcurrency": 3,
					"ItemProcessor": {"StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}, "ResultPath": "$.done", "End": true}`),
				Input: atom.FromJSON([]byte(`{"all":["a","b"]}`)), Mock: mockResult(`[1, 2]`),
			},
			`SUCCEEDED {"all":["a","b"],"done":[1,2]}`,
			`{"input":{"all":["a","b"]},"afterInputPath":{"all":["a","b"]},"afterItemsPath":["a","b"],"afterItemSelector":[{"i":0,"v":"a"},{"i":1,"v":"b"}],` +
				`"afterResultSelector":[1,2],"afterResultPath":{"all":["a","b"],"done":[1,2]},"maxConcurrency":3}`,
		},
		{
			"too many failed of a hundred",
			teststate.Test{
				Definition: []byte(`{"Type": "Map", "QueryLanguage": "JSONata", "Items": [1, 2, 3, 4], "ToleratedFailurePercentage": "{% 25 %}", "End": true,
					"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}, "StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}},
					"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "B"}]}`),
				Mock: mockResult(`[]`), Configuration: teststate.Configuration{MapIterationFailureCount: 2},
			},
			`CAUGHT_ERROR {"Error":"States.ExceedToleratedFailureThreshold","Cause":"The specified tolerated failure threshold was exceeded"} B ` +
				`States.ExceedToleratedFailureThreshold The specified tolerated failure threshold was exceeded`,
			`{"input":{},"maxConcurrency":0,"toleratedFailurePercentage":25,"errorDetails":{"catchIndex":0}}`,
		},
		{
			"more failed than tolerated, without a handler",
			teststate.Test{
				Definition: []byte(`{"Type": "Map", "QueryLanguage": "JSONata", "Items": [1, 2, 3], "ToleratedFailureCount": 1, "End": true,
					"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}, "StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}}`),
				Mock: mockResult(`[0, 0, 1]`), Configuration: teststate.Configuration{MapIterationFailureCount: 2},
			},
			`FAILED States.ExceedToleratedFailureThreshold The specified tolerated failure threshold was exceeded`,
			`{"input":{},"maxConcurrency":0,"toleratedFailureCount":1}`,
		},
		{
			"failed, without a tolerance and a handler",
			teststate.Test{
				Definition: []byte(`{"Type": "Map", "QueryLanguage": "JSONata", "Items": [1, 2, 3], "End": true,
					"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}, "StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}}`),
				Mock: mockResult(`[0, 0, 1]`), Configuration: teststate.Configuration{MapIterationFailureCount: 2},
			},
			`SUCCEEDED [0, 0, 1]`, `{"input":{},"maxConcurrency":0}`,
		},
		{
			"an ItemBatcher",
			teststate.Test{
				Definition: []byte(`{"Type": "Map", "ItemsPath": "$.all", "ItemSelector": {"v.$": "$$.Map.Item.Value", "s.$": "$$.Map.Item.Source", "e.$": "$$.Execution.Name"},
					"ItemBatcher": {"MaxItemsPerBatchPath": "$.each", "BatchInput": {"b.$": "$.b"}}, "End": true,
					"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}, "StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}}`),
				Input: atom.FromJSON([]byte(`{"all":["a","b","c"],"each":2,"b":7}`)), Mock: mockResult(`[1, 2]`),
				Context: atom.FromJSON([]byte(`{"Execution":{"Name":"n"}}`)),
			},
			`SUCCEEDED [1, 2]`,
			`{"input":{"all":["a","b","c"],"each":2,"b":7},"afterInputPath":{"all":["a","b","c"],"each":2,"b":7},"afterItemsPath":["a","b","c"],` +
				`"afterItemSelector":[{"v":"a","s":"STATE_DATA","e":"n"},{"v":"b","s":"STATE_DATA","e":"n"},{"v":"c","s":"STATE_DATA","e":"n"}],` +
				`"afterItemBatcher":[{"BatchInput":{"b":7},"Items":[{"v":"a","s":"STATE_DATA","e":"n"},{"v":"b","s":"STATE_DATA","e":"n"}]},{"BatchInput":{"b":7},"Items":[{"v":"c","s":"STATE_DATA","e":"n"}]}],` +
				`"afterResultSelector":[1,2],"afterResultPath":[1,2],"maxConcurrency":0}`,
		},
		{
			"an ItemBatcher by bytes, of an object's members",
			teststate.Test{
				Definition: []byte(`{"Type": "Map", "QueryLanguage": "JSONata", "Items": {"x": 1, "y": 2}, "ItemSelector": "{% $states.context.Map.Item.Key %}",
					"ItemBatcher": {"MaxInputBytesPerBatch": "{% 16 %}"}, "End": true,
					"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}, "StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}}`),
				Mock: mockResult(`[1, 2]`),
			},
			`SUCCEEDED [1, 2]`,
			`{"input":{},"afterItemSelector":["x","y"],"afterItemBatcher":[{"Items":["x"]},{"Items":["y"]}],"maxConcurrency":0}`,
		},
		{
			"an ItemsPointer, and the first items",
			teststate.Test{
				Definition: []byte(reading(`{"InputType": "JSON", "ItemsPointer": "/a~1b/1", "MaxItems": 2}`)),
				Mock:       mockResult(`[1, 2]`), Configuration: teststate.Configuration{MapItemReaderData: []byte(`{"a/b":[0,[5,6,7]]}`)},
			},
			`SUCCEEDED [1, 2]`,
			`{"input":{},"afterInputPath":{},"afterItemsPointer":[5,6,7],"afterItemSelector":[{"v":5,"from":"S3://b/k"},{"v":6,"from":"S3://b/k"}],` +
				`"afterResultSelector":[1,2],"afterResultPath":[1,2],"maxConcurrency":0}`,
		},
		{
			"rows of a CSV file",
			teststate.Test{
				Definition: []byte(reading(`{"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW", "CSVDelimiter": "SEMICOLON"}`)),
				Mock:       mockResult(`[1, 2]`), Configuration: teststate.Configuration{MapItemReaderData: []byte("x;y\n1;\"2;3\"\n4\n")},
			},
			`SUCCEEDED [1, 2]`,
			`{"input":{},"afterInputPath":{},"afterItemSelector":[{"v":{"x":"1","y":"2;3"},"from":"S3://b/k"},{"v":{"x":"4","y":""},"from":"S3://b/k"}],` +
				`"afterResultSelector":[1,2],"afterResultPath":[1,2],"maxConcurrency":0}`,
		},
		{
			"lines of JSON",
			teststate.Test{
				Definition: []byte(reading(`{"InputType": "JSONL"}`)),
				Mock:       mockResult(`[1, 2]`), Configuration: teststate.Configuration{MapItemReaderData: []byte("{\"x\":1}\n\n2\n")},
			},
			`SUCCEEDED [1, 2]`,
			`{"input":{},"afterInputPath":{},"afterItemSelector":[{"v":{"x":1},"from":"S3://b/k"},{"v":2,"from":"S3://b/k"}],` +
				`"afterResultSelector":[1,2],"afterResultPath":[1,2],"maxConcurrency":0}`,
		},
		{
			"JSON without an array",
			teststate.Test{
				Definition: []byte(reading(`{"InputType": "JSON"}`)),
				Mock:       mockResult(`[]`), Configuration: teststate.Configuration{MapItemReaderData: []byte(`{}`)},
			},
			`FAILED States.ItemReaderFailed Attempting to map over non-iterable node.`, `{"input":{}}`,
		},
		{
			"negative tolerance",
			teststate.Test{
				Definition: []byte(`{"Type": "Map", "QueryLanguage": "JSONata", "Items": [1], "ToleratedFailureCount": "{% -1 %}", "End": true,
					"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}, "StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}}`),
				Mock: mockResult(`[1]`),
			},
			`FAILED States.Runtime ToleratedFailureCount cannot be negative.`, `{"input":{},"maxConcurrency":0}`,
		},
		{
			"in a Map, with a context object",
			teststate.Test{
				Definition: []byte(`{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Q", "States": {
					"Q": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value", "e.$": "$$.Execution.Name"}, "End": true}}}}}}`),
				StateName: "Q", Input: atom.FromJSON([]byte(`7`)), Mock: mockResult(`{}`),
				Context: atom.FromJSON([]byte(`{"Execution":{"Name":"n"}}`)),
			},
			`SUCCEEDED {}`,
			`{"input":7,"afterInputPath":7,"afterParameters":{"i":0,"v":7,"e":"n"},"result":{},"afterResultSelector":{},"afterResultPath":{}}`,
		},
		{
			"in a distributed Map in a Map",
			teststate.Test{
				Definition: []byte(`{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "D", "States": {
					"D": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Q", "States": {
						"Q": {"Type": "Pass", "Parameters": {"m.$": "$$.Map.Item"}, "End": true}}}}}}}}}`),
				StateName: "Q", Input: atom.FromJSON([]byte(`7`)),
			},
			`SUCCEEDED {"m":{"Index":0,"Value":7,"Source":"STATE_DATA"}}`,
			`{"input":7,"afterInputPath":7,"afterParameters":{"m":{"Index":0,"Value":7,"Source":"STATE_DATA"}},` +
				`"afterResultSelector":{"m":{"Index":0,"Value":7,"Source":"STATE_DATA"}},"afterResultPath":{"m":{"Index":0,"Value":7,"Source":"STATE_DATA"}}}`,
		},
		{
			"an ItemsPointer in JSONata",
			teststate.Test{
				Definition: []byte(strings.NewReplacer("Parameters", "Arguments", `"ItemSelector": {"v.$": "$$.Map.Item.Value", "from.$": "$$.Map.Item.Source"}, `, "",
					`"Type": "Map"`, `"Type": "Map", "QueryLanguage": "JSONata"`).Replace(reading(`{"InputType": "JSON", "ItemsPointer": "/a"}`))),
				Mock: mockResult(`[1]`), Configuration: teststate.Configuration{MapItemReaderData: []byte(`{"a":[5]}`)},
			},
			`SUCCEEDED [1]`, `{"input":{},"maxConcurrency":0}`,
		},
		{
			"a function is called",
			teststate.Test{
				Definition: []byte(`{"Type": "Task", "QueryLanguage": "JSONata", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:F", "Arguments": {"x": "{% 1 + 1 %}"}, "Output": "{% $states.result.y %}", "End": true}`),
				Attributes: asl.Attributes{RoleARN: "r"},
				Call: func(resource string, input atom.Value) (atom.Value, *atom.Failure) {
					if resource != "arn:aws:lambda:us-east-1:123456789012:function:F" {
						return nil, &atom.Failure{Code: "Wrong"}
					}
					return atom.FromJSON([]byte(`{"y":` + input.String() + `}`)), nil
				},
			},
			`SUCCEEDED {"x":2}`, `{"input":{},"afterArguments":{"x":2},"result":{"y":{"x":2}}}`,
		},
	} {
		result, err := teststate.Run(t.Context(), &c.test)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := result.Status
		for _, part := range []string{result.Output.String(), result.NextState} {
			if part != "" && part != "null" {
				got += " " + part
			}
		}
		if result.Error != "" {
			got += " " + result.Error + " " + result.Cause
		}
		if got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		if diff := cmp.Diff(c.inspection, compact(t, result.Inspection)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func compact(t *testing.T, i teststate.Inspection) string {
	t.Helper()
	return string(atom.MustEncode(i).JSON())
}

// What is not tested, and why.
func TestStateRefused(t *testing.T) {
	t.Parallel()
	task := `{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true}`
	inner := `"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}, "End": true}`
	for _, c := range []struct {
		test teststate.Test
		want string
	}{
		{teststate.Test{Definition: []byte(`{`)}, "InvalidDefinition: Invalid State Machine Definition: 'INVALID_JSON_DESCRIPTION: "},
		{teststate.Test{Definition: []byte(`{"Type": "Parallel", "Branches": [], "End": true}`), Mock: mockResult(`[]`)}, "InvalidDefinition: Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: Value cannot be empty at /States/StateName/Branches'"},
		{teststate.Test{Definition: []byte(task), Mock: mockError("E"), Context: atom.FromJSON([]byte(`{"Task": {"Token": "t"}}`))}, "ValidationException: Invalid Context object provided: 'Task' field is not supported"},
		{teststate.Test{Definition: []byte(`[]`)}, "InvalidDefinition: Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: "},
		{teststate.Test{Definition: []byte(`{"Type": "Pass"}`)}, "InvalidDefinition: Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: This object should have only one of the following fields: [Next, End] at /'"},
		{teststate.Test{Definition: []byte(`{"Type": "Pass", "End": true}`), Input: atom.FromJSON([]byte(`{`))}, "InvalidExecutionInput: Invalid State Machine Execution Input: '"},
		{teststate.Test{Definition: []byte(task)}, "ValidationException: RoleArn must be specified when testing a Task state"},
		{teststate.Test{Definition: []byte(strings.Replace(task, "invoke", "invoke.waitForTaskToken", 1)), Attributes: asl.Attributes{RoleARN: "r"}}, "InvalidDefinition: TestState API does not support the resource"},
		{teststate.Test{Definition: []byte(task), Mock: &teststate.Mock{}}, "ValidationException: A test mock should have only one"},
		{teststate.Test{Definition: []byte(task), Mock: mockResult(`{"StatusCode": "200"}`)}, "ValidationException: Mock result schema validation error: Field 'StatusCode' must be a number"},
		{teststate.Test{Definition: []byte(task), Mock: mockResult(`{} {}`)}, "ValidationException: Mocked result must be valid JSON"},
		{teststate.Test{Definition: []byte(`{"Type": "Map", ` + inner), Mock: mockResult(`{}`)}, "ValidationException: Mocked result must be an array."},
		{teststate.Test{Definition: []byte(`{"Type": "Map", "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b"}}, ` + inner), Mock: mockResult(`[]`)}, "ValidationException: Mocked result must be a JSON object."},
		{teststate.Test{Definition: []byte(`{"Type": "Map", ` + inner), Mock: mockError("E"), Configuration: teststate.Configuration{ErrorCausedByState: "R"}}, "ValidationException: The state R"},
		{teststate.Test{Definition: []byte(task), Mock: mockError("E"), Context: atom.FromJSON([]byte(`{"Map": {}}`))}, "ValidationException: Invalid Context object provided: 'Map' field is not supported"},
		{teststate.Test{Definition: []byte(task), Mock: mockError("E"), Context: atom.FromJSON([]byte(`{"State": {"Nme": 1}}`))}, "ValidationException: Invalid Context object provided: Field 'Nme' is not allowed"},
		{teststate.Test{Definition: []byte(task), Mock: mockError("E"), Context: atom.FromJSON([]byte(`{"State": {"RetryCount": "1"}}`))}, "ValidationException: Invalid Context object provided: State.RetryCount must be a integer"},
		{teststate.Test{Definition: []byte(task), Mock: mockError("E"), Context: atom.FromJSON([]byte(`{"Execution": {"Name": 1}}`))}, "ValidationException: Invalid Context object provided: Execution.Name must be a string"},
		{teststate.Test{Definition: []byte(task), Mock: mockError("E"), Context: atom.FromJSON([]byte(`{"Execution": []}`))}, "ValidationException: Invalid Context object provided: Execution must be a object"},
		{teststate.Test{Definition: []byte(strings.Replace(task, "lambda:invoke", "aws-sdk:rds:describeDBInstances", 1)), Mock: mockResult(`{"DbInstances": 1}`)}, "ValidationException: Mock result schema validation error: Field 'DbInstances' must be an array"},
		{teststate.Test{Definition: []byte(`{"Type": "Parallel", "Branches": [{"StartAt": "Q", "States": {"Q": {"Type": "Pass", "End": true}}}], "End": true}`), Mock: mockResult(`[1, 2]`)}, "ValidationException: Mocked result must contain the same number of items as number of Parallel branches."},
		{teststate.Test{Definition: []byte(`{"Type": "Map", ` + inner), Input: atom.FromJSON([]byte(`[1, 2]`)), Mock: mockResult(`[1, 2, 3]`)}, "ValidationException: Input array does not equal the mocked result array's size."},
		{teststate.Test{Definition: []byte(`{"Type": "Map", ` + inner), Input: atom.FromJSON([]byte(`[1]`)), Mock: mockResult(`[1]`), Configuration: teststate.Configuration{MapIterationFailureCount: 2}}, "ValidationException: Map iteration failure count must be less than or equal to the number of Map iterations"},
		{teststate.Test{Definition: []byte(`{"Type": "Map", "ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON"}, "Parameters": {"Bucket": "b", "Key": "k"}}, ` + inner), Mock: mockResult(`[]`)}, "ValidationException: ItemReader data must be specified when testing a Map state with ItemReader specified."},
		{teststate.Test{Definition: []byte(`{"Type": "Pass", "End": true}`), Variables: atom.FromJSON([]byte(`[]`))}, "ValidationException: Variables must be a JSON object."},
		{teststate.Test{Definition: []byte(`{"Type": "Pass", "End": true}`), Variables: atom.FromJSON([]byte(`{`))}, "ValidationException: Variables must be a JSON object."},
		{teststate.Test{Definition: []byte(`{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsPresent": true, "Next": "B"}]}`), Mock: mockResult(`{}`)}, "ValidationException: State type 'Choice' is not supported when a mock is specified"},
		{teststate.Test{Definition: []byte(task), Mock: mockError("")}, "ValidationException: The error field must be specified"},
		{teststate.Test{Definition: []byte(strings.Replace(task, "lambda:invoke", "states:startExecution.sync:2", 1)), Mock: mockResult(`{"Output": {}}`)}, "ValidationException: Mock result schema validation error: Required field 'ExecutionArn' is missing"},
		{teststate.Test{Definition: []byte(task), Mock: mockResult(`{"StatusCode": 1.5}`)}, "ValidationException: Mock result schema validation error: Field 'StatusCode' must be an integer"},
	} {
		_, err := teststate.Run(t.Context(), &c.test)
		if refused, ok := errors.AsType[*teststate.Error](err); !ok || !strings.HasPrefix(refused.Error(), c.want) {
			t.Errorf("%s\n%v\nwant %s", c.test.Definition, err, c.want)
		}
	}
}
