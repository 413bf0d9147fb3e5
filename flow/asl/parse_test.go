package asl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
)

// problems returns how a definition's problems print.
func problems(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var all flow.Diagnostics
	if !errors.As(err, &all) {
		t.Fatalf("the error is a %T, want flow.Diagnostics: %v", err, err)
	}
	return lines(all)
}

func lines(all flow.Diagnostics) []string {
	var out []string
	for _, p := range all {
		out = append(out, string(p.Code)+" "+p.String())
	}
	return out
}

// TestParseProblems checks the report of each rule, and its position.
func TestParseProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, definition string
		want             []string
	}{
		{"nothing", " \n ", []string{"SCHEMA_VALIDATION_FAILED d:1:1: the definition must be a JSON object, found nothing"}},
		{"no object", `[]`, []string{"SCHEMA_VALIDATION_FAILED d:1:1: the definition must be a JSON object, found an array"}},
		{"no JSON", `not a definition`, []string{`INVALID_JSON_DESCRIPTION d:1:1: expected a JSON value (an object, array, string, number, true, false or ` +
			`null), found "not"`}},
		{
			"broken JSON", "{\n  \"StartAt\": \"A\"\n  \"States\": {}\n}",
			[]string{`INVALID_JSON_DESCRIPTION d:3:3: expected ',' or '}' behind the value of "StartAt", found "\""`},
		},
		{"trailing comma", `{"StartAt": "A",}`, []string{`INVALID_JSON_DESCRIPTION d:1:17: expected a member's name in double quotes behind the comma, found "}"`}},
		{"single quotes", `{'StartAt': 1}`, []string{`INVALID_JSON_DESCRIPTION d:1:2: expected a member's name in double quotes, found "'"`}},
		{"open string", `{"StartAt": "A`, []string{`INVALID_JSON_DESCRIPTION d:1:13: expected a closing '"' for the string that begins here, found the end ` +
			`of the text`}},
		{"leading zero", `{"TimeoutSeconds": 012}`, []string{`INVALID_JSON_DESCRIPTION d:1:20: expected a number without leading zeros, found "012"`}},
		{"two values", `{} {}`, []string{`INVALID_JSON_DESCRIPTION d:1:4: expected nothing more behind the value, found "{"`}},
		{"column in characters", `{"ü": "ä" x}`, []string{`INVALID_JSON_DESCRIPTION d:1:11: expected ',' or '}' behind the value of "ü", found "x"`}},
		{"too deep", strings.Repeat(`{"a":`, 300), []string{"TOO_DEEPLY_NESTED d:1:1006: objects and arrays nest deeper than 200"}},
		{"empty", `{}`, []string{"SCHEMA_VALIDATION_FAILED d:1:1: these fields are required: States, StartAt"}},
		{"no states", `{"StartAt": "A", "States": {}}`, []string{
			`MISSING_TRANSITION_TARGET d:1:13: StartAt "A" is no state`,
			"SCHEMA_VALIDATION_FAILED d:1:28: States must be an object with at least one state",
		}},
		{"unknown Next", `{"StartAt": "Pay", "States": {
			"Pay": {"Type": "Pass", "Next": "Shipp"},
			"Ship": {"Type": "Succeed"}}}`, []string{
			`MISSING_TRANSITION_TARGET d:2:36: state "Pay": Next "Shipp" is no state (did you mean "Ship"?)`,
		}},
		{"case counts", `{"StartAt": "pay", "States": {"Pay": {"Type": "Pass", "End": true}}}`, []string{
			`MISSING_TRANSITION_TARGET d:1:13: StartAt "pay" is no state (did you mean "Pay"?)`,
		}},
		{"twice", `{"StartAt": "A", "StartAt": "A", "States": {"A": {"Type": "Pass", "End": true, "End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:18: the name "StartAt" occurs twice in one object`,
			`SCHEMA_VALIDATION_FAILED d:1:80: the name "End" occurs twice in one object`,
		}},
		{"a state twice", `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}, "A": {"Type": "Succeed"}}}`, []string{
			`DUPLICATE_STATE_NAME d:1:55: the name "A" occurs twice in one object`,
		}},
		{"the name in a branch, too", `{"StartAt": "A", "States": {
			"A": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}]}}}`, []string{
			`DUPLICATE_STATE_NAME d:2:84: state "A": the state name "A" is taken in line 2; names are unique in the whole machine, branches included`,
		}},
		{"long name", `{"StartAt": "` + strings.Repeat("x", 81) + `", "States": {"` + strings.Repeat("x", 81) + `": {"Type": "Succeed"}}}`, []string{
			`INVALID_STATE_NAME d:1:109: the state name "` + strings.Repeat("x", 80) + `…" has 81 characters; 80 is the most`,
		}},
		{"no type", `{"StartAt": "A", "States": {"A": {"End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:34: state "A": these fields are required: Type`,
		}},
		{"wrong type", `{"StartAt": "A", "States": {"A": {"Type": "Pas", "End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:43: state "A": The field 'Type' should have one of these values: [Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map] (did you mean "Pass"?)`,
		}},
		{"state no object", `{"StartAt": "A", "States": {"A": [], "B": {"Type": "Succeed"}}}`, []string{
			`MISSING_TRANSITION_TARGET d:1:13: StartAt "A" is no state`,
			`SCHEMA_VALIDATION_FAILED d:1:34: the state "A" must be an object, found an array`,
		}},
		{"neither Next nor End", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": false}, "B": {"Type": "Succeed"}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:34: state "A": one of Next and "End": true must be there`,
		}},
		{"Next and End", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true, "Next": "A"}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:72: state "A": a state that ends the machine has no Next`,
		}},
		{"no end", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "A"}}}`, []string{
			`MISSING_END_STATE d:1:28: no state ends the machine (give a state "End": true, or add one of Type Succeed or Fail)`,
		}},
		{"out of the branch", `{"StartAt": "A", "States": {
			"A": {"Type": "Parallel", "Next": "C", "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Pass", "Next": "C"}, "D": {"Type": "Succeed"}}}]},
			"C": {"Type": "Succeed"}}}`, []string{
			`MISSING_TRANSITION_TARGET d:2:114: state "B": Next "C" is no state (a transition stays within its own States; that state is in another)`,
		}},
		{"fields of other types", `{"StartAt": "A", "States": {"A": {"Type": "Succeed", "ResultPath": "$.x", "Next": "A"}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:54: state "A": ResultPath is not supported in a Succeed state`,
			`SCHEMA_VALIDATION_FAILED d:1:75: state "A": Next is not supported in a Succeed state`,
		}},
		{"fields of JSONata", `{"StartAt": "A", "States": {"A": {"Type": "Succeed", "Output": "{% 1 %}"}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:54: state "A": Output is for QueryLanguage JSONata (write "OutputPath", or set "QueryLanguage": "JSONata")`,
		}},
		{"fields of JSONPath", `{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", "InputPath": "$", "ResultPath": null, "End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:79: state "A": InputPath is for QueryLanguage JSONPath (write "Output": "{% $states.input %}")`,
			`SCHEMA_VALIDATION_FAILED d:1:97: state "A": ResultPath is for QueryLanguage JSONPath (write "Output": "{% $states.input %}")`,
		}},
		{"expressions", `{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", "End": true, "Output": {
			"a": "{% 1 + %}",
			"b": "{% \"\u00fc\ud83d\ude00\" & \n (1 %}",
			"c": ["{% order.id %}", "{% $$ %}", "{% \t$states.result %}", "{% $states.inptu %}"]}}}}`, []string{
			`INVALID_JSONATA_EXPRESSION d:2:17: state "A": a: Unexpected end of expression`,
			`INVALID_JSONATA_EXPRESSION d:3:44: state "A": b: Expected ")" before end of expression`,
			`UNSUPPORTED_JSONATA_EXPRESSION d:4:14: state "A": an entry of c: Reference to 'order' at the top level is not supported ` +
				`(such as $states.input.order)`,
			`UNSUPPORTED_JSONATA_EXPRESSION d:4:32: state "A": an entry of c: Reference to '$$' is not supported`,
			`UNSUPPORTED_JSONATA_EXPRESSION d:4:46: state "A": an entry of c: Field '$states.result' does not exist here ` +
				`(it is there in Output and Assign of a Task, Parallel or Map state)`,
			`UNSUPPORTED_JSONATA_EXPRESSION d:4:70: state "A": an entry of c: Field '$states.inptu' does not exist here ` +
				`(did you mean $states.input?)`,
		}},
		{"version and timeout", `{"Version": "2.0", "TimeoutSeconds": -1, "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:13: Version must be "1.0"`,
			`SCHEMA_VALIDATION_FAILED d:1:38: TimeoutSeconds must be a whole number from 0 to 99999999`,
		}},
		{"task", `{"StartAt": "A", "States": {"A": {"Type": "Task", "TimeoutSeconds": 5, "TimeoutSecondsPath": "$.t", "HeartbeatSeconds": 9, "Credentials": ` +
			`{}, "End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:34: state "A": these fields are required: Resource`,
			`SCHEMA_VALIDATION_FAILED d:1:94: state "A": only one of TimeoutSeconds, TimeoutSecondsPath may be there`,
			`SCHEMA_VALIDATION_FAILED d:1:121: state "A": HeartbeatSeconds must be less than TimeoutSeconds`,
			`SCHEMA_VALIDATION_FAILED d:1:139: state "A": The field 'RoleArn' is required but was missing`,
		}},
		{"resource", `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "book", "End": true}}}`, []string{
			`INVALID_RESOURCE d:1:63: state "A": the resource "book" is not recognized (such as exec:./book, https://example.org/book or a Lambda function's ARN)`,
		}},
		{"wait", `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Next": "B"}, "B": {"Type": "Wait", "Seconds": 1, "Timestamp": "2026-13-01T10:20:30Z", ` +
			`"Next": "C"},
			"C": {"Type": "Wait", "Timestamp": "2026-12-01T10:20:30", "Next": "D"}, "D": {"Type": "Wait", "SecondsPath": "$.a[*]", "End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:34: state "A": one of SecondsPath, Seconds, TimestampPath, Timestamp must be there`,
			`SCHEMA_VALIDATION_FAILED d:1:114: state "B": Timestamp does not match RFC3339 timestamp (such as "2026-01-31T12:00:00Z")`,
			`SCHEMA_VALIDATION_FAILED d:1:114: state "B": only one of SecondsPath, Seconds, TimestampPath, Timestamp may be there`,
			`SCHEMA_VALIDATION_FAILED d:2:39: state "C": Timestamp does not match RFC3339 timestamp (such as "2026-01-31T12:00:00Z")`,
			`SCHEMA_VALIDATION_FAILED d:2:113: state "D": SecondsPath "$.a[*]" is not a legal path: '*' names all; a reference path names one value, by ` +
				`members and single indices (at its character 4)`,
		}},
		{"choice", `{"StartAt": "A", "States": {"A": {"Type": "Choice", "Choices": [
			{"Variable": "$.a", "StringEqual": "x", "Next": "B"},
			{"Variable": "$.a", "StringEquals": 1, "NumericEquals": 1, "Next": "B"},
			{"Variable": "$.a", "NumericEquals": "1", "Next": "B"},
			{"StringEquals": "1"},
			{"And": [{"Variable": "$.a", "IsNull": true, "Next": "B"}], "Next": "B"},
			{"Not": [], "Next": "B"}
		], "End": true}, "B": {"Type": "Succeed"}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:2:24: state "A": StringEqual is no comparison (did you mean StringEquals?)`,
			`SCHEMA_VALIDATION_FAILED d:3:4: state "A": a rule needs exactly one of And, Or, Not or a comparison such as StringEquals, found 2`,
			`SCHEMA_VALIDATION_FAILED d:3:40: state "A": StringEquals must be a string, found a number`,
			`SCHEMA_VALIDATION_FAILED d:4:41: state "A": NumericEquals must be a number, found a string`,
			`SCHEMA_VALIDATION_FAILED d:5:4: state "A": a rule with StringEquals needs Variable`,
			`SCHEMA_VALIDATION_FAILED d:5:4: state "A": a rule of Choices needs Next`,
			`SCHEMA_VALIDATION_FAILED d:6:49: state "A": Next is for rules of Choices, not for the rules inside them`,
			`SCHEMA_VALIDATION_FAILED d:7:12: state "A": a rule must be an object, found an array`,
			`SCHEMA_VALIDATION_FAILED d:8:6: state "A": End is not supported in a Choice state`,
		}},
		{"no choices", `{"StartAt": "A", "States": {"A": {"Type": "Choice", "Choices": [], "Default": "B"}, "B": {"Type": "Succeed"}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:64: state "A": Choices must not be empty`,
		}},
		{"fail", `{"StartAt": "A", "States": {"A": {"Type": "Fail", "Error": 1, "Cause": "x", "CausePath": "$.x"}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:60: state "A": Error must be a string, found a number`,
			`SCHEMA_VALIDATION_FAILED d:1:90: state "A": only one of Cause, CausePath may be there`,
		}},
		{"parallel", `{"StartAt": "A", "States": {"A": {"Type": "Parallel", "Branches": [], "Next": "B"}, "B": {"Type": "Parallel", "Branches": [1, {}], ` +
			`"End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:67: state "A": Branches must not be empty`,
			`SCHEMA_VALIDATION_FAILED d:1:124: state "B": an entry of Branches must be an object, found a number`,
			`SCHEMA_VALIDATION_FAILED d:1:127: state "B": these fields are required: States, StartAt`,
		}},
		{"retry and catch", `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "exec:a", "End": true,
			"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": -1}, {"ErrorEquals": ["x"], "BackoffRate": 0.5, ` +
			`"IntervalSeconds": 5, "MaxDelaySeconds": 5, "JitterStrategy": "HALF"}],
			"Catch": [{"ErrorEquals": [], "Next": "A"}, {"ErrorEquals": ["States.ALL", "x"], "Next": "Z"}, {"ErrorEquals": ["x"]}, 1]}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:2:31: state "A": States.ALL must stand alone, and in the last entry`,
			`SCHEMA_VALIDATION_FAILED d:2:61: state "A": MaxAttempts must be a whole number from 0 to 99999999`,
			`SCHEMA_VALIDATION_FAILED d:2:104: state "A": BackoffRate must be a number of at least 1`,
			`SCHEMA_VALIDATION_FAILED d:2:150: state "A": MaxDelaySeconds must be greater than IntervalSeconds`,
			`SCHEMA_VALIDATION_FAILED d:2:171: state "A": JitterStrategy must be "NONE" or "FULL"`,
			`SCHEMA_VALIDATION_FAILED d:3:30: state "A": ErrorEquals must be an array of at least one error's name`,
			`SCHEMA_VALIDATION_FAILED d:3:65: state "A": States.ALL must stand alone, and in the last entry`,
			`MISSING_TRANSITION_TARGET d:3:93: state "A": Next "Z" is no state`,
			`SCHEMA_VALIDATION_FAILED d:3:99: state "A": these fields are required: Next`,
			`SCHEMA_VALIDATION_FAILED d:3:123: state "A": an entry of Catch must be an object, found a number`,
		}},
		{"paths", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "InputPath": "x", "OutputPath": 1, "ResultPath": "$.a[*]", "End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:64: state "A": InputPath "x" is not a legal path: a path begins with $, as in $.name; found 'x' (at its character 1)`,
			`SCHEMA_VALIDATION_FAILED d:1:83: state "A": OutputPath must be a path, found a number`,
			`SCHEMA_VALIDATION_FAILED d:1:100: state "A": ResultPath "$.a[*]" is not a legal path: '*' names all; a reference path names one value, by members ` +
				`and single indices (at its character 4)`,
		}},
		{"templates", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Parameters": {"a": 1, "a.$": "$.a", "b.$": 1, "c.$": "x", "d.$": ` +
			`"States.Formt('{}', $.x)"}, "End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:81: state "A": "a" and "a.$" give the same field twice`,
			`SCHEMA_VALIDATION_FAILED d:1:95: state "A": the value for the field "b.$" must be a path or an intrinsic function, found a number`,
			`SCHEMA_VALIDATION_FAILED d:1:105: state "A": the value for the field "c.$" must be a valid JSONPath or a valid intrinsic function call: expected ` +
				`a path, or a function's name beginning with States. at character 1`,
			`SCHEMA_VALIDATION_FAILED d:1:117: state "A": the value for the field "d.$" must be a valid JSONPath or a valid intrinsic function call: there is ` +
				`no function States.Formt (did you mean States.Format?)`,
		}},
		{"variables", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Assign": {"states": 1, "a b": 2, "x": 3}, "Next": "B"},
			"B": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "C", ` +
			`"States": {"C": {"Type": "Pass", "Assign": {"x.$": "$.x"}, "End": true}}}]}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:62: state "A": the variable name states is reserved`,
			`SCHEMA_VALIDATION_FAILED d:1:75: state "A": "a b" is no name for a variable`,
			`DUPLICATE_VARIABLE_NAME d:2:124: the variable "x" is assigned in a level around this one, too; it can be read here, not assigned`,
		}},
		{"revert", `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "exec:a", "Revert": "undo", "Next": "B"}, "B": {"Type": "Task", ` +
			`"Resource": "exec:a", "Revert": false, "Next": "C"},
			"C": {"Type": "Task", "Resource": "exec:a", "Revert": {"Parameters": {}}, "Next": "D"},
			"D": {"Type": "Task", "Resource": "exec:a", "Revert": {"Resource": "exec:b", "Parameters": {"x.$": "$x", ` +
			`"y.$": "States.Array($x)"}}, "Next": "E"}, "E": {"Type": "Pass", "Revert": "exec:x", "End": true}}}`, []string{
			`INVALID_RESOURCE d:1:83: state "A": the resource "undo" is not recognized (such as exec:./book, https://example.org/book or a Lambda function's ARN)`,
			`SCHEMA_VALIDATION_FAILED d:2:58: state "C": these fields are required: Resource`,
			`SCHEMA_VALIDATION_FAILED d:3:103: state "D": variables cannot be seen when a state is undone; put what is needed into the state's Parameters`,
			`SCHEMA_VALIDATION_FAILED d:3:116: state "D": variables cannot be seen when a state is undone; put what is needed into the state's Parameters`,
			`SCHEMA_VALIDATION_FAILED d:3:174: state "E": Revert is not supported in a Pass state`,
		}},
		{"map", `{"StartAt": "A", "States": {"A": {"Type": "Map", "ItemReader": {}, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED"}, ` +
			`"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}, "End": true}}}`, []string{
			`SCHEMA_VALIDATION_FAILED d:1:64: state "A": these fields are required: Resource`,
			`SCHEMA_VALIDATION_FAILED d:1:105: state "A": a distributed Map needs ExecutionType (STANDARD or EXPRESS)`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := asl.Parse("d", []byte(c.definition))
			if diff := cmp.Diff(c.want, problems(t, err)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseWarnings checks warnings about definitions that run nevertheless: also what only rules that are younger than
// the definition refuse.
func TestParseWarnings(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("orders.asl.json", []byte(`{
	"StartAt": "A",
	"Color": "red",
	"States": {
		"A": {"Type": "Pass", "Result": {"x.$": "$.x"}, "Coment": "", "Next": "B"},
		"B": {"Type": "Task", "Resource": "exec:b", "Parameters": {"x": "$.x"}, "Retry": [{"ErrorEquals": ["States.TimeOut"]}], "End": true},
		"Lost": {"Type": "Succeed"}
	}
}`), asl.Accepted())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`SCHEMA_VALIDATION_FAILED orders.asl.json:3:2: Color is no field of a state machine`,
		`PASS_RESULT_IS_STATIC orders.asl.json:5:43: state "A": Result is taken as it stands; "x.$" is not evaluated (use Parameters for what is to be evaluated)`,
		`SCHEMA_VALIDATION_FAILED orders.asl.json:5:51: state "A": Coment is no field of a Pass state (did you mean Comment?)`,
		`NO_DOLLAR orders.asl.json:6:67: state "B": the value for the field "x" looks like a path but is taken as it stands (name it "x.$")`,
		`SCHEMA_VALIDATION_FAILED orders.asl.json:6:102: state "B": the language has no error "States.TimeOut" (did you mean States.Timeout?)`,
		`MISSING_TRANSITION_TARGET orders.asl.json:7:11: no transition leads to the state "Lost"`,
	}
	if diff := cmp.Diff(want, lines(m.Warnings())); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	for _, p := range m.Warnings() {
		if p.Severity != flow.SeverityWarning {
			t.Errorf("%s has severity %s", p, p.Severity)
		}
	}
}

// TestFlow shows that a machine is a flow under the name it was parsed with.
func TestFlow(t *testing.T) {
	t.Parallel()
	m := parse(t, counter)
	if f := m.Flow(); f.Name() != m.Name() || f.Language() != grow.Language(m) {
		t.Errorf("the flow %q runs %v", f.Name(), f.Language())
	}
}

// TestParsePointers shows that problems name their value as RFC 6901 does.
func TestParsePointers(t *testing.T) {
	t.Parallel()
	_, err := asl.Parse("", []byte(`{"StartAt": "a/b~c", "States": {"a/b~c": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsNull": 1, "Next": `+
		`"E"}]}, "E": {"Type": "Succeed"}}}`))
	var all flow.Diagnostics
	if !errors.As(err, &all) || len(all) != 1 {
		t.Fatalf("got %v, want one problem", err)
	}
	if got, want := all[0].Pointer, "/States/a~1b~0c/Choices/0/IsNull"; got != want {
		t.Errorf("pointer %s, want %s", got, want)
	}
	if got, want := all[0].String(), `1:103: state "a/b~c": IsNull must be true or false, found a number`; got != want {
		t.Errorf("without a file's name: %s, want %s", got, want)
	}
}

// TestParseBounds shows that hostile definitions are refused in little memory.
//
// Guarantee (G9): size, depth and reported problems of definitions.
// Also: `TestParseProblems`.
func TestParseBounds(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString(`{"StartAt": "A", "States": {"A": {"Type": "Succeed"}`)
	for range 5000 {
		many.WriteString(`, "` + strings.Repeat("n", 100) + `": {}`)
	}
	many.WriteString("}}")
	_, err := asl.Parse("d", []byte(many.String()))
	if got := problems(t, err); len(got) != asl.MaxProblems {
		t.Errorf("%d problems, want %d", len(got), asl.MaxProblems)
	}
	if len(err.Error()) > 100_000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
	_, err = asl.Parse("d", make([]byte, asl.MaxDefinition+1))
	want := []string{"SCHEMA_VALIDATION_FAILED d:1:1: the definition has 1048577 bytes; 1048576 is the most"}
	if diff := cmp.Diff(want, problems(t, err)); diff != "" {
		t.Errorf("too long (-want +got):\n%s", diff)
	}
}

// TestParseStrict shows that Strict refuses Ebb's additions, and nothing else.
func TestParseStrict(t *testing.T) {
	t.Parallel()
	_, err := asl.Parse("d", []byte(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "exec:a", "Revert": "exec:b", "End": true}}}`), asl.Strict())
	want := []string{`SCHEMA_VALIDATION_FAILED d:1:83: state "A": Revert is Ebb's addition to the language`}
	if diff := cmp.Diff(want, problems(t, err)); diff != "" {
		t.Errorf("with Revert (-want +got):\n%s", diff)
	}
	if _, err := asl.Parse("d", []byte(`{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`), asl.Strict()); err != nil {
		t.Error(err)
	}
}
