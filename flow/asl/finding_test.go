package asl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow/asl"
)

// TestFindings compares findings with what AWS answers. The texts are recorded (asl.md b), or published by people who
// have met them.
func TestFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"none", `{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}`, ""},
		{"not an object", ` `, "SCHEMA_VALIDATION_FAILED: Definition must be a valid JSON object at null"},
		{"empty", `{}`, "SCHEMA_VALIDATION_FAILED: These fields are required: [States, StartAt] at /"},
		{
			"targets", `{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Variable":"$.x","IsPresent":true,"Next":"Ghost"}],
				"Default":"Z"},"Z":{"Type":"Pass","End":true},"a/b":{"Type":"Pass","End":true}}}`,
			`MISSING_TRANSITION_TARGET: Missing 'Next' target: Ghost at /States/C/Choices[0]/Next`,
		},
		{
			"placeholders", `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"${Pay}","TimeoutSeconds":"${Time}","End":true}}}`,
			"INVALID_RESOURCE: The resource provided ${Pay} is not recognized. The value is not a valid resource ARN, or the resource is not available " +
				"in this region. at /States/A/Resource, " +
				"SCHEMA_VALIDATION_FAILED: TimeoutSeconds has the placeholder ${Time}, which a deployment fills in at /States/A/TimeoutSeconds",
		},
		{
			"unreachable", `{"StartAt":"Z","States":{"Z":{"Type":"Pass","End":true},"a/b":{"Type":"Pass","End":true}}}`,
			`MISSING_TRANSITION_TARGET: State "a/b" is not reachable. at /States/a/b`,
		},
		{
			"no end", `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"A"}}}`,
			"MISSING_END_STATE: Workflow has no terminal state at null",
		},
		{
			"no end, and a state that nothing leads to", `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"},"B":{"Type":"Pass","Next":"A"},"C":{"Type":"Pass","Next":"A"}}}`,
			"MISSING_END_STATE: Workflow has no terminal state at null",
		},
		{
			"no target and no end", `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"NOPE"}}}`,
			"MISSING_TRANSITION_TARGET: Missing 'Next' target: NOPE at /States/A/Next, MISSING_END_STATE: Workflow has no terminal state at null",
		},
		{
			"numbers of a Map", mapWith(distributed, `"ToleratedFailureCountPath":"$$.Execution.Input.n","ToleratedFailurePercentage":101,"MaxConcurrency":-1,`),
			"SCHEMA_VALIDATION_FAILED: Value is not a Reference Path at /States/A/ToleratedFailureCountPath, " +
				"SCHEMA_VALIDATION_FAILED: Maximum value is 100.0 at /States/A/ToleratedFailurePercentage, " +
				"SCHEMA_VALIDATION_FAILED: Minimum value is 0 at /States/A/MaxConcurrency",
		},
		{
			"a number and its path", mapWith("", `"MaxConcurrency":1,"MaxConcurrencyPath":"$.n",`),
			"SCHEMA_VALIDATION_FAILED: There should only be one of the following fields: [MaxConcurrency, MaxConcurrencyPath] at /States/A",
		},
		{
			"JSONata", `{"StartAt":"E","QueryLanguage":"JSONata","States":{"E":{"Type":"Pass","Output":{"v":"{% phone %}","w":"{% 1 + %}"},"End":true}}}`,
			"UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'phone' at the top level is not supported. at /States/E/Output/v, " +
				"INVALID_JSONATA_EXPRESSION: Unexpected end of expression at /States/E/Output/w",
		},
		{
			"field", `{"StartAt":"X","States":{"X":{"Type":"Pass","TimeoutSeconds":5,"End":true}}}`,
			"SCHEMA_VALIDATION_FAILED: Field 'TimeoutSeconds' is not supported at /States/X",
		},
		{
			"other language", `{"StartAt":"T","States":{"T":{"Type":"Pass","Output":{},"End":true}}}`,
			"SCHEMA_VALIDATION_FAILED: The QueryLanguage is set to 'JSONPath', but field 'Output' is only supported for the " +
				"'JSONata' QueryLanguage at /States/T",
		},
		{
			"resource", `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:x","End":true}}}`,
			"INVALID_RESOURCE: The resource provided arn:aws:x is not recognized. The value is not a valid resource ARN, or " +
				"the resource is not available in this region. at /States/T/Resource",
		},
		{
			"integration", `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::dynamodb:query","End":true}}}`,
			"SCHEMA_VALIDATION_FAILED: The resource provided arn:aws:states:::dynamodb:query is not recognized. The value is not a " +
				"valid resource ARN, or the resource is not available in this region. at /States/T/Resource",
		},
		{
			"unknown field", `{"StartAt":"X","States":{"X":{"Type":"Pass","_comment":"x","End":true}}}`,
			"SCHEMA_VALIDATION_FAILED: Field '_comment' is not supported at /States/X",
		},
		{
			"not JSON", "{\n\"StartAt\": nothing}",
			"INVALID_JSON_DESCRIPTION: Unrecognized token 'nothing': was expecting (JSON String, Number, Array, Object or " +
				"token 'null', 'true' or 'false')\n at [Source: (String)\"{\n\"StartAt\": nothing}\"; line: 2, column: 19] at " +
				"[Source: (String)\"{\n\"StartAt\": nothing}\"; line: 2, column: 19]",
		},
	} {
		findings := asl.Findings([]byte(c.text), asl.Validate("", []byte(c.text), asl.ForAWS()))
		if got, want := asl.Refusal(findings), "Invalid State Machine Definition: '"+c.want+"'"; got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

// TestFindingWords has what AWS's ValidateStateMachineDefinition says about a state, as others have measured it. What
// follows has no words of its own.
func TestFindingWords(t *testing.T) {
	t.Parallel()
	lambda := `"Type":"Task","Resource":"arn:aws:lambda:us-east-1:123456789012:function:F","End":true`
	reader := func(config string) string {
		return `"Type":"Map","End":true,"ItemReader":{"Resource":"arn:aws:states:::s3:getObject","ReaderConfig":{` + config +
			`},"Parameters":{"Bucket":"b","Key":"k"}},"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},` +
			`"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	}
	processor := func(config string) string {
		return `"Type":"Map","End":true,"ItemProcessor":{"ProcessorConfig":{` + config + `},"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	}
	rule := func(fields string) string { return `"Type":"Choice","Default":"S","Choices":[{` + fields + `}]` }
	long := strings.Repeat("é", 41)
	for state, want := range map[string]string{
		`"End":true`:                               "These fields are required: [Type] at /States/A",
		`"Type":"Pass"`:                            "This object should have only one of the following fields: [Next, End] at /States/A",
		`"Type":"Pass","Next":"S","End":true`:      "There should only be one of the following fields: [Next, End] at /States/A",
		`"Type":"Pass","End":true,"InputPath":"a"`: "Value must be a valid JSONPath. at /States/A/InputPath",
		`"Type":"Pass","End":true,"QueryLanguage":"x"`: "Value should be one of the following: [JSONPath, JSONata] at " +
			"/States/A/QueryLanguage",
		`"Type":"Pass","QueryLanguage":"JSONata","Output":"{% 1","End":true`: "JSONata string must start with {% and end with %} at /States/A/Output",
		`"Type":"Pass","Assign":{"states":1},"End":true`:                     "Cannot assign to reserved variable '$states'. at /States/A/Assign/states",
		`"Type":"Pass","Assign":{"a-b":1},"End":true`: "Invalid variable name 'a-b': the variable name contains invalid characters. " +
			"at /States/A/Assign/a-b",
		`"Type":"Wait","End":true`: "This object should have only one of the following fields: [SecondsPath, Seconds, TimestampPath, Timestamp] " +
			"at /States/A",
		`"Type":"Wait","Seconds":1,"SecondsPath":"$.a","TimestampPath":"$.b","End":true`: "There should only be one of the following fields: " +
			"[SecondsPath, Seconds, TimestampPath, Timestamp] at /States/A",
		`"Type":"Wait","Seconds":"5","End":true`:     "Expected value of type Integer at /States/A/Seconds",
		`"Type":"Wait","Seconds":-1,"End":true`:      "Minimum value is 0 at /States/A/Seconds",
		`"Type":"Map","End":true`:                    "This object should have only one of the following fields: [ItemProcessor, Iterator] at /States/A",
		`"Type":"Parallel","Branches":[],"End":true`: "Value cannot be empty at /States/A/Branches",
		lambda + `,"Retry":[{"ErrorEquals":["E"],"JitterStrategy":"x"}]`: "Value should be one of the following: [NONE, FULL] at " +
			"/States/A/Retry[0]/JitterStrategy",
		lambda + `,"Retry":[{"ErrorEquals":["E"],"MaxAttempts":1.5}]`:   "Expected value of type Integer at /States/A/Retry[0]/MaxAttempts",
		lambda + `,"Retry":[{"ErrorEquals":["E"],"IntervalSeconds":0}]`: "",
		lambda + `,"Retry":[{}]`:                    "These fields are required: [ErrorEquals] at /States/A/Retry[0]",
		lambda + `,"Catch":[{"ErrorEquals":["E"]}]`: "These fields are required: [Next] at /States/A/Catch[0]",
		lambda + `,"Retry":[{"ErrorEquals":["States.ALL"]},{"ErrorEquals":["E"]}]`: "States.ALL must appear alone and at end of list at " +
			"/States/A/Retry[0]/ErrorEquals[0]",
		lambda + `,"Credentials":{}`: "The field 'RoleArn' is required but was missing at /States/A/Credentials",
		`"Type":"Task","Resource":"arn:aws:states:us-east-1:123456789012:activity:a","Credentials":{"RoleArn":"r"},"End":true`: "The field " +
			"'Credentials' is not supported for activities at /States/A",
		lambda + `,"Revert":"arn:aws:lambda:us-east-1:123456789012:function:G"`: "Revert is Ebb's addition to the language at " +
			"/States/A/Revert",
		`"Type":"Task","Resource":"pay","End":true`: "Value is not a valid resource ARN at /States/A/Resource",
		`"Type":"Task","QueryLanguage":"JSONata","Resource":"arn:aws:states:::aws-sdk:s3:listBuckets","End":true`: "Arguments field is " +
			"required for resource ARN: arn:aws:states:::aws-sdk:s3:listBuckets at /States/A",
		rule(`"Variable":"$.x","IsNull":true`): "These fields are required: [Next] at /States/A/Choices[0]",
		rule(`"Next":"S"`): "The object must have only one of the following fields, [And, Or, Not, Variable, Condition] at " +
			"/States/A/Choices[0]",
		rule(`"Variable":"x","IsNull":true,"Next":"S"`): "Value is not a Reference Path: Reference path didn't start with '$' at " +
			"/States/A/Choices[0]/Variable",
		rule(`"Not":{"Variable":"$.x","IsNull":true,"Next":"S"},"Next":"S"`): "Field 'Next' is not supported at /States/A/Choices[0]/Not",
		reader(`"InputType":"CSV"`):                                  "The field 'CSVHeaderLocation' is required at /States/A/ItemReader/ReaderConfig",
		reader(`"InputType":"CSV","CSVHeaderLocation":"GIVEN"`):      "These fields are required: [CSVHeaders] at /States/A/ItemReader/ReaderConfig",
		reader(`"InputType":"JSON","CSVHeaderLocation":"FIRST_ROW"`): "Field 'CSVHeaderLocation' is not supported at /States/A/ItemReader/ReaderConfig",
		strings.Replace(reader(`"InputType":"JSON"`), "getObject", "putObject", 1): "The field 'Resource' does not match any of the " +
			"allowed values at /States/A/ItemReader/Resource",
		strings.Replace(reader(`"InputType":"JSON"`), `"End"`, `"Label":"`+long+`","End"`, 1): "Invalid Label name: Label '" + long +
			"' exceeds the 40-character limit allowed by the service at /States/A/Label",
		processor(`"Mode":"DISTRIBUTED"`):                       "These fields are required: [ExecutionType] at /States/A/ItemProcessor/ProcessorConfig",
		processor(`"Mode":"INLINE","ExecutionType":"STANDARD"`): "Field 'ExecutionType' is not supported at /States/A/ItemProcessor/ProcessorConfig",
		processor(`"Mode":"DISTRIBUTED","ExecutionType":"X"`): "Value should be one of the following: [STANDARD, EXPRESS] at " +
			"/States/A/ItemProcessor/ProcessorConfig/ExecutionType",
	} {
		text := `{"StartAt":"A","States":{"A":{` + state + `}`
		if strings.Contains(state, `"S"`) {
			text += `,"S":{"Type":"Succeed"}`
		}
		text += "}}"
		var got []string
		for _, f := range asl.Findings([]byte(text), asl.Validate("", []byte(text), asl.ForAWS())) {
			if f.Code != "MISSING_END_STATE" {
				got = append(got, f.Message+" at "+f.Location)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s\n got %s\nwant %s", state, strings.Join(got, ", "), want)
		}
	}
	name := strings.Repeat("n", 81)
	text := []byte(`{"StartAt":"` + name + `","TimeoutSeconds":0,"States":{"` + name + `":{"Type":"Parallel","End":true,"Branches":[` +
		`{"StartAt":"B","States":{"B":{"Type":"Pass","End":true}}},{"StartAt":"B","States":{"B":{"Type":"Pass","End":true}}}]}}}`)
	want := "Invalid State Machine Definition: 'INVALID_STATE_NAME: Invalid State name: State '" + name + "' exceeds the 80-character " +
		"limit allowed by the service at /States/" + name + ", DUPLICATE_STATE_NAME: Duplicate State name: B at /States/" + name +
		"/Branches[1]/States/B'"
	if got := asl.Refusal(asl.Findings(text, asl.Validate("", text))); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
}

// TestVariableReferences finds the variables that states read, in both query languages and at all levels.
func TestVariableReferences(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("m", []byte(`{"StartAt":"A","States":{
		"A":{"Type":"Pass","Assign":{"n":1,"m":2},"Next":"B"},
		"B":{"Type":"Map","ItemsPath":"$n","ItemProcessor":{"StartAt":"C","States":{
			"C":{"Type":"Pass","QueryLanguage":"JSONata","Output":"{% $n + $m + $count([$n]) %}","End":true}}},"Next":"D"},
		"D":{"Type":"Pass","Parameters":{"x.$":"$m","y.$":"States.Format('{}', $m)","z":"$n"},"End":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"B": {"n"}, "C": {"m", "n"}, "D": {"m"}}
	if diff := cmp.Diff(want, m.VariableReferences()); diff != "" {
		t.Error(diff)
	}
}

// TestFindingOfAnInvalidCall has AWS's words for every fault of the call (asl.md a.8).
func TestFindingOfAnInvalidCall(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"x", "$.x[y]", "States.Formt('{}')", "States.UUID(1)", "States.Format(", `States.StringToJson('\\\"')`} {
		text := []byte(`{"StartAt":"A","States":{"A":{"Type":"Pass","Parameters":{"c.$":"` + call + `"},"End":true}}}`)
		want := "The value for the field 'c.$' must be a valid JSONPath or a valid intrinsic function call"
		findings := asl.Findings(text, asl.Validate("", text))
		if len(findings) != 1 || findings[0].Message != want || findings[0].Location != "/States/A/Parameters" {
			t.Errorf("%s: got %+v, want %q", call, findings, want)
		}
	}
}
