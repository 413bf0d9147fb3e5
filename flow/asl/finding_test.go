package asl_test

import (
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
			"required", `{"StartAt":"T","States":{"T":{"Type":"Task","End":true}}}`,
			"SCHEMA_VALIDATION_FAILED: The field 'Resource' is required but was missing at /States/T",
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
			"not JSON", "{\n\"StartAt\": nothing}",
			"INVALID_JSON_DESCRIPTION: Unrecognized token 'nothing': was expecting (JSON String, Number, Array, Object or " +
				"token 'null', 'true' or 'false')\n at [Source: (String)\"{\n\"StartAt\": nothing}\"; line: 2, column: 19] at " +
				"[Source: (String)\"{\n\"StartAt\": nothing}\"; line: 2, column: 19]",
		},
	} {
		findings := asl.Findings([]byte(c.text), asl.Validate("", []byte(c.text), asl.Reachable()))
		if got, want := asl.Refusal(findings), "Invalid State Machine Definition: '"+c.want+"'"; got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
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
	for _, call := range []string{"x", "States.Formt('{}')", "States.UUID(1)", "States.Format(", `States.StringToJson('\\\"')`} {
		text := []byte(`{"StartAt":"A","States":{"A":{"Type":"Pass","Parameters":{"c.$":"` + call + `"},"End":true}}}`)
		want := "The value for the field 'c.$' must be a valid JSONPath or a valid intrinsic function call"
		findings := asl.Findings(text, asl.Validate("", text))
		if len(findings) != 1 || findings[0].Message != want || findings[0].Location != "/States/A/Parameters" {
			t.Errorf("%s: got %+v, want %q", call, findings, want)
		}
	}
}
