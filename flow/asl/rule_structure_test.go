package asl_test

import (
	"strings"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/internal/definition"
)

// structureCases are about states, their fields and their order.
var structureCases = []ruleCase{
	{rule: "size", bad: machineOf(`"A": {"Type": "Succeed", "Comment": "` + strings.Repeat("x", asl.MaxDefinition) + `"}`), good: machineOf(`"A": {"Type": "Succeed"}`)},
	{rule: "json", bad: `{"StartAt": "A"`, good: machineOf(`"A": {"Type": "Succeed"}`)},
	{rule: "nesting", bad: strings.Repeat(`[`, definition.MaxNesting+2), good: machineOf(`"A": {"Type": "Pass", "Result": [[[[]]]], "End": true}`)},
	{rule: "object", bad: `["A"]`, good: machineOf(`"A": {"Type": "Succeed"}`), schema: true},
	{rule: "once", bad: machineOf(`"A": {"Type": "Succeed", "Comment": "1", "Comment": "2"}`), good: machineOf(`"A": {"Type": "Succeed", "Comment": "1"}`)},
	{
		rule: "state-once", bad: machineOf(`"A": {"Type": "Succeed"}, "A": {"Type": "Succeed"}`),
		good: machineOf(`"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Succeed"}`),
	},
	{
		rule: "state-once", bad: strings.Replace(mapWith("", ""), `"B"`, `"A"`, 2),
		good: mapWith("", ""),
	},

	{rule: "required", bad: `{"States": {"A": {"Type": "Succeed"}}}`, good: machineOf(`"A": {"Type": "Succeed"}`), schema: true},
	{rule: "required", bad: machineOf(`"A": {"End": true}`), good: machineOf(`"A": {"Type": "Pass", "End": true}`), schema: true},
	{rule: "required", bad: machineOf(`"A": {"Type": "Wait", "End": true}`), good: machineOf(`"A": {"Type": "Wait", "Seconds": 0, "End": true}`), schema: true},
	{rule: "required", bad: machineOf(`"A": {"Type": "Task", "End": true}`), good: taskWith(""), schema: true},
	{
		rule: "required", bad: machineOf(`"A": {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "arn:aws:states:::aws-sdk:s3:listBuckets", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "arn:aws:states:::aws-sdk:s3:listBuckets", "Arguments": {}, "End": true}`),
	},
	{rule: "required", bad: machineOf(`"A": {"Type": "Map", "End": true}`), good: mapWith("", ""), schema: true},
	{
		rule: "required", bad: choiceWith(`{"Variable": "$.x", "IsNull": true}`), good: choiceWith(`{"Variable": "$.x", "IsNull": true, "Next": "B"}`),
		schema: true,
	},
	{rule: "required", bad: choiceWith(`{"IsNull": true, "Next": "B"}`), good: choiceWith(`{"Variable": "$.x", "IsNull": true, "Next": "B"}`), schema: true},
	{
		rule: "required", bad: taskWith(`"Retry": [{}], `), good: taskWith(`"Retry": [{"ErrorEquals": ["E"]}], `),
		schema: true,
	},
	{rule: "type", bad: machineOf(`"A": {"Type": "Succeed", "Comment": 1}`), good: machineOf(`"A": {"Type": "Succeed", "Comment": "1"}`), schema: true},
	{rule: "type", bad: machineOf(`"A": {"Type": "Pass", "End": "true"}`), good: machineOf(`"A": {"Type": "Pass", "End": true}`), schema: true},
	{rule: "type", bad: machineOf(`"A": "Succeed"`), good: machineOf(`"A": {"Type": "Succeed"}`), schema: true},
	{
		rule: "type", bad: machineOf(`"A": {"Type": "Wait", "Seconds": "$.s", "End": true}`),
		good: machineOf(`"A": {"Type": "Wait", "SecondsPath": "$.s", "End": true}`), schema: true,
	},
	{rule: "type", bad: taskWith(`"Retry": {"ErrorEquals": ["E"]}, `), good: taskWith(`"Retry": [{"ErrorEquals": ["E"]}], `), schema: true},
	{
		rule: "type", bad: choiceWith(`{"Variable": "$.x", "NumericEquals": "1", "Next": "B"}`),
		good: choiceWith(`{"Variable": "$.x", "NumericEquals": 1, "Next": "B"}`), schema: true,
	},
	{
		rule: "type", bad: inJSONata(`{"Type": "Choice", "Choices": [{"Condition": "yes", "Next": "B"}]}, "B": {"Type": "Succeed"}`),
		good: inJSONata(`{"Type": "Choice", "Choices": [{"Condition": "{% true %}", "Next": "B"}]}, "B": {"Type": "Succeed"}`), schema: true,
	},
	{rule: "type", bad: taskWith(`"Revert": true, `), good: taskWith(`"Revert": false, `), schema: true},
	{rule: "value", bad: machineOf(`"A": {"Type": "Success"}`), good: machineOf(`"A": {"Type": "Succeed"}`), schema: true},
	{rule: "value", bad: `{"Version": "2.0", "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`, good: machineOf(`"A": {"Type": "Succeed"}`), schema: true},
	{rule: "value", bad: taskWith(`"TimeoutSeconds": 0, `), good: taskWith(`"TimeoutSeconds": 1, `), schema: true},
	{rule: "value", bad: taskWith(`"TimeoutSeconds": 1.5, `), good: taskWith(`"TimeoutSeconds": 1, `), schema: true},
	{
		rule: "value", bad: taskWith(`"Retry": [{"ErrorEquals": ["E"], "BackoffRate": 0.5}], `),
		good: taskWith(`"Retry": [{"ErrorEquals": ["E"], "BackoffRate": 1.0}], `), schema: true,
	},
	{
		rule: "value", bad: taskWith(`"Retry": [{"ErrorEquals": ["E"], "JitterStrategy": "HALF"}], `),
		good: taskWith(`"Retry": [{"ErrorEquals": ["E"], "JitterStrategy": "FULL"}], `), schema: true,
	},
	{rule: "value", bad: mapWith(distributed, `"ToleratedFailurePercentage": 101, `), good: mapWith(distributed, `"ToleratedFailurePercentage": 100, `), schema: true},
	{rule: "empty", bad: machineOf(``), good: machineOf(`"A": {"Type": "Succeed"}`), schema: true},
	{rule: "empty", bad: machineOf(`"A": {"Type": "Parallel", "Branches": [], "End": true}`), good: mapWith("", ""), schema: true},
	{
		rule: "empty", bad: choiceWith(`{"And": [], "Next": "B"}`),
		good: choiceWith(`{"And": [{"Variable": "$.x", "IsNull": true}], "Next": "B"}`), schema: true,
	},
	{rule: "empty", bad: taskWith(`"Retry": [{"ErrorEquals": []}], `), good: taskWith(`"Retry": [], `), schema: true},
	{
		rule: "exclusive", bad: machineOf(`"A": {"Type": "Wait", "Seconds": 1, "SecondsPath": "$.s", "End": true}`),
		good: machineOf(`"A": {"Type": "Wait", "SecondsPath": "$.s", "End": true}`), schema: true,
	},
	{
		rule: "exclusive", bad: taskWith(`"TimeoutSeconds": 1, "TimeoutSecondsPath": "$.s", `), good: taskWith(`"TimeoutSecondsPath": "$.s", `),
		schema: true,
	},
	{rule: "exclusive", bad: mapWith("", `"ItemSelector": {}, "Parameters": {}, `), good: mapWith("", `"Parameters": {}, `), schema: true},
	{
		rule: "exclusive", bad: mapWith(distributed, `"ItemBatcher": {"MaxItemsPerBatch": 1, "MaxItemsPerBatchPath": "$.x"}, `),
		good: mapWith(distributed, `"ItemBatcher": {"MaxItemsPerBatch": 1}, `), schema: true,
	},
	{rule: "field", bad: machineOf(`"A": {"Type": "Succeed", "ResultPath": "$.x"}`), good: machineOf(`"A": {"Type": "Succeed", "InputPath": "$.x"}`), schema: true},
	{
		rule: "unknown-field", bad: machineOf(`"A": {"Type": "Succeed", "Coment": ""}`), good: machineOf(`"A": {"Type": "Succeed", "Comment": ""}`),
		schema: true,
	},
	{rule: "extension", bad: taskWith(`"Revert": "exec:y", `), good: taskWith(``), opts: []asl.Option{asl.Strict()}},
	{
		rule: "extension", bad: taskWith(`"Catch": [{"ErrorEquals": ["E"], "Next": "B", "Revert": "all"}], `),
		good: taskWith(``), opts: []asl.Option{asl.Strict()},
	},

	{rule: "language-field", bad: machineOf(`"A": {"Type": "Succeed", "Output": 1}`), good: inJSONata(`{"Type": "Succeed", "Output": 1}`), schema: true},
	{rule: "language-field", bad: inJSONata(`{"Type": "Succeed", "InputPath": "$"}`), good: machineOf(`"A": {"Type": "Succeed", "InputPath": "$"}`), schema: true},
	{
		rule: "downgrade", bad: inJSONata(`{"Type": "Succeed", "QueryLanguage": "JSONPath"}`), good: inJSONata(`{"Type": "Succeed", "QueryLanguage": "JSONata"}`),
		schema: true,
	},
	{
		rule: "misplaced", bad: machineOf(`"QueryLanguage": "JSONata", "A": {"Type": "Succeed", "Output": "{% 1 %}"}`),
		good: inJSONata(`{"Type": "Succeed", "Output": "{% 1 %}"}`), schema: true,
	},
	{
		rule: "jsonata", bad: inJSONata(`{"Type": "Succeed", "Output": {"x": ["{% 1 + %}"]}}`),
		good: inJSONata(`{"Type": "Succeed", "Output": {"x": ["{% 1 + 1 %}"]}}`),
	},
	{
		rule: "jsonata", bad: inJSONata(`{"Type": "Wait", "Seconds": "{% $max( %}", "End": true}`),
		good: inJSONata(`{"Type": "Wait", "Seconds": "{% $max([1, 2]) %}", "End": true}`),
	},
	{
		rule: "top-level", bad: inJSONata(`{"Type": "Succeed", "Output": "{% phone[0] %}"}`),
		good: inJSONata(`{"Type": "Succeed", "Output": "{% $states.input.phone[type = 'home'] %}"}`),
	},
	{
		rule: "top-level", bad: inJSONata(`{"Type": "Succeed", "Output": "{% $$ %}"}`),
		good: inJSONata(`{"Type": "Succeed", "Output": "{% $map($states.input.x, function($v) { $v * 2 }) %}"}`),
	},
	{
		rule: "states", bad: inJSONata(`{"Type": "Succeed", "Output": "{% $states.inptu.x %}"}`),
		good: inJSONata(`{"Type": "Succeed", "Output": "{% $states.context.State.Name %}"}`),
	},
	{
		rule: "states", bad: inJSONata(`{"Type": "Task", "Resource": "a:b", "Arguments": {"x": "{% $states.result %}"}, "End": true}`),
		good: inJSONata(`{"Type": "Task", "Resource": "a:b", "Output": {"x": ["{% $states.result %}"]}, "End": true}`),
	},
	{
		rule: "states", bad: inJSONata(`{"Type": "Task", "Resource": "a:b", "Output": "{% $states.errorOutput %}", "End": true}`),
		good: inJSONata(`{"Type": "Task", "Resource": "a:b", "Catch": [{"ErrorEquals": ["E"], "Output": {"e": "{% $states.errorOutput %}"}, ` +
			`"Assign": {"e": "{% $states.errorOutput.Cause %}"}, "Next": "A"}], "End": true}`),
	},
	{
		rule: "unassigned", bad: inJSONata(`{"Type": "Pass", "Assign": {"count": 1}, "Output": "{% $cunt + $sum([1]) %}", "End": true}`),
		good: inJSONata(`{"Type": "Pass", "Assign": {"count": 1}, "Output": "{% ($x := $count; $x + $sum([1])) %}", "End": true}`),
	},
	{
		rule: "delimiters", bad: inJSONata(`{"Type": "Succeed", "Output": {"x": ["{% 1 "]}}`), good: inJSONata(`{"Type": "Succeed", "Output": {"x": ["{% 1 %}"]}}`),
		schema: true,
	},
	{rule: "delimiters", bad: inJSONata(`{"Type": "Succeed", "Output": "1 %}"}`), good: inJSONata(`{"Type": "Succeed", "Output": "1%"}`), schema: true},
	{rule: "not-evaluated", bad: inJSONata(`{"Type": "Succeed", "Output": " {% 1 %}"}`), good: inJSONata(`{"Type": "Succeed", "Output": "{% 1 %}"}`)},
	{rule: "type", bad: inJSONata(`{"Type": "Wait", "Seconds": "$states.input.s", "End": true}`), good: inJSONata(`{"Type": "Wait", "Seconds": "{% $states.input.s %}", "End": true}`), schema: true},
	{rule: "not-evaluated", bad: inJSONata(`{"Type": "Succeed", "Output": {"x": "$states.input.x"}}`), good: inJSONata(`{"Type": "Succeed", "Output": {"x": "$LATEST"}}`)},
	{rule: "not-evaluated", bad: inJSONata(`{"Type": "Succeed", "Output": {"x.$": "$.x"}}`), good: inJSONata(`{"Type": "Succeed", "Output": {"x": 1}}`)},
	{
		rule: "expression-in-path", bad: machineOf(`"A": {"Type": "Pass", "Parameters": {"x": "{% 1 %}"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "QueryLanguage": "JSONata", "Output": {"x": "{% 1 %}"}, "End": true}`),
	},

	{
		rule: "state-name", bad: machineOf(`"A": {"Type": "Pass", "Next": ""}, "": {"Type": "Succeed"}`),
		good: machineOf(`"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Succeed"}`), schema: true,
	},
	{
		rule: "target", bad: machineOf(`"A": {"Type": "Pass", "Next": "C"}, "B": {"Type": "Succeed"}`),
		good: machineOf(`"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Succeed"}`),
	},
	{rule: "next-or-end", bad: machineOf(`"A": {"Type": "Pass"}`), good: machineOf(`"A": {"Type": "Pass", "End": true}`), schema: true},
	{
		rule: "next-or-end", bad: machineOf(`"A": {"Type": "Pass", "End": true, "Next": "A"}`),
		good: machineOf(`"A": {"Type": "Pass", "End": false, "Next": "B"}, "B": {"Type": "Succeed"}`), schema: true,
	},
	{
		rule: "end", bad: machineOf(`"A": {"Type": "Wait", "Seconds": 1, "Next": "A"}`),
		good: machineOf(`"A": {"Type": "Wait", "Seconds": 1, "End": true}`),
	},
	{
		rule: "unreachable", bad: machineOf(`"A": {"Type": "Succeed"}, "B": {"Type": "Succeed"}`),
		good: taskWith(`"Catch": [{"ErrorEquals": ["E"], "Next": "A"}], `),
	},
	{
		rule: "unreachable", bad: machineOf(`"A": {"Type": "Succeed"}, "B": {"Type": "Pass", "Next": "B"}`), opts: []asl.Option{asl.Strict()},
		good: machineOf(`"A": {"Type": "Succeed"}`),
	},
	{
		rule: "endless-loop",
		bad: machineOf(`"A": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsNull": true, "Next": "B"}], "Default": "C"}, "B": {"Type": "Succeed"}, ` +
			`"C": {"Type": "Pass", "Next": "D"}, "D": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsNull": true, "Next": "C"}], "Default": "D"}`),
		good: machineOf(`"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsNull": true, "Next": "A"}], ` +
			`"Default": "C"}, "C": {"Type": "Succeed"}`),
	},
}
