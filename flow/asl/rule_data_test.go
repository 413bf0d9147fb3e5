package asl_test

import (
	"strings"

	"github.com/ebbflow/ebb/flow/asl"
)

// dataCases are about paths, queries, tasks, failures, choices and Maps.
var dataCases = []ruleCase{
	{rule: "path", bad: machineOf(`"A": {"Type": "Succeed", "InputPath": "x"}`), good: machineOf(`"A": {"Type": "Succeed", "InputPath": null}`), schema: true},
	{
		rule: "reference-path", bad: machineOf(`"A": {"Type": "Pass", "ResultPath": "$.x[*]", "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "ResultPath": "$.x[0]", "End": true}`),
	},
	{
		rule: "template", bad: machineOf(`"A": {"Type": "Pass", "Parameters": [{"x.$": "x"}], "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Parameters": [{"x.$": "States.UUID()"}], "End": true}`), schema: true,
	},
	{
		rule: "twice", bad: machineOf(`"A": {"Type": "Pass", "Parameters": {"x": 1, "x.$": "$.x"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Parameters": {"x.$": "$.x"}, "End": true}`),
	},
	{
		rule: "dialect", bad: machineOf(`"A": {"Type": "Pass", "Parameters": {"x.$": "$.a[-1]", "y.$": "States.Array($.a.sum())"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Parameters": {"x.$": "$.a[(@.length-1)]"}, "End": true}`),
	},
	{
		rule: "no-dollar", bad: machineOf(`"A": {"Type": "Pass", "Parameters": {"x": {"y": "States.UUID()"}}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Parameters": {"x": {"y.$": "States.UUID()"}}, "End": true}`),
	},
	{rule: "no-path", bad: machineOf(`"A": {"Type": "Fail", "Error": "$.e"}`), good: machineOf(`"A": {"Type": "Fail", "ErrorPath": "$.e"}`)},
	{
		rule: "static-result", bad: machineOf(`"A": {"Type": "Pass", "Result": {"x.$": "$.x"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Parameters": {"x.$": "$.x"}, "End": true}`),
	},
	{
		rule: "timestamp", bad: machineOf(`"A": {"Type": "Wait", "Timestamp": "2026-01-31", "End": true}`),
		good: machineOf(`"A": {"Type": "Wait", "Timestamp": "2026-01-31T12:00:00Z", "End": true}`), schema: true,
	},
	{
		rule: "timestamp", bad: choiceWith(`{"Variable": "$.x", "TimestampEquals": "today", "Next": "B"}`),
		good: choiceWith(`{"Variable": "$.x", "TimestampEquals": "2026-01-31T12:00:00+01:00", "Next": "B"}`), schema: true,
	},

	{
		rule: "reference-path", bad: mapWith("", `"MaxConcurrencyPath": "$$.Execution.Input.n", `), good: mapWith("", `"MaxConcurrencyPath": "$n", `),
	},
	{
		rule: "variable-name", bad: machineOf(`"A": {"Type": "Pass", "Assign": {"1x": 1}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Assign": {"x1": 1}, "End": true}`),
	},
	{
		rule: "variable-name", bad: machineOf(`"A": {"Type": "Pass", "Assign": {"_x": 1}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Assign": {"é_1": 1}, "End": true}`),
	},
	{
		rule: "shadow",
		bad: machineOf(`"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "M"}, "M": {"Type": "Map", "ItemProcessor": {"StartAt": "B", ` +
			`"States": {"B": {"Type": "Pass", "Assign": {"x": 1}, "End": true}}}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "M"}, "M": {"Type": "Map", "ItemProcessor": {` + distributed + `"StartAt": "B", ` +
			`"States": {"B": {"Type": "Pass", "Assign": {"x": 1}, "End": true}}}, "End": true}`),
	},
	{
		rule: "unassigned", bad: machineOf(`"A": {"Type": "Pass", "Parameters": {"x.$": "States.Array($cunt)"}, "Assign": {"count": 1}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Parameters": {"x.$": "States.Array($count)"}, "Assign": {"count": 1}, "End": true}`),
	},
	{
		rule: "unassigned",
		bad: machineOf(`"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "M"}, "M": {"Type": "Map", "ItemProcessor": {` + distributed + `"StartAt": "B", ` +
			`"States": {"B": {"Type": "Pass", "OutputPath": "$x", "End": true}}}, "End": true}`),
		good: machineOf(`"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "M"}, "M": {"Type": "Map", "ItemProcessor": {"StartAt": "B", ` +
			`"States": {"B": {"Type": "Pass", "OutputPath": "$x", "End": true}}}, "End": true}`),
	},
	{
		rule: "undo-variable", bad: taskWith(`"Revert": {"Resource": "exec:y", "Parameters": {"x.$": "$x"}}, `),
		good: taskWith(`"Revert": {"Resource": "exec:y", "Parameters": {"x.$": "$.Result.x"}}, `),
	},

	{rule: "resource", bad: machineOf(`"A": {"Type": "Task", "Resource": "pay", "End": true}`), good: taskWith(""), schema: true},
	{
		rule: "resource", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:111111111111:function:f", "End": true}`),
	},
	{
		rule: "integration", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.sync", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "End": true}`),
	},
	{
		rule: "integration", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::codebuild:stopBuild.sync", "Parameters": {"Id": "b"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::codebuild:retryBuildBatch.sync", "Parameters": {"Id": "b"}, "End": true}`),
	},
	{
		rule: "integration", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.sync:2", "Parameters": {"FunctionName": "f"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "Parameters": {"FunctionName": "f", "Payload.$": "$$.Task.Token"}, "End": true}`),
	},
	{
		rule: "integration", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:batch:submitJob.sync", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::batch:submitJob.sync", "End": true}`),
	},
	{
		rule: "integration", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:query", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:query", "Parameters": {"TableName": "t"}, "End": true}`),
	},
	{
		rule: "integration", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::s3:getObject", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "q", "MessageBody": "b"}, "End": true}`),
	},
	{
		rule: "arn", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:function:f", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:111111111111:function:f:live", "End": true}`),
	},
	{
		rule: "arn", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:activity:a", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:111111111111:activity:a", "End": true}`),
	},
	{
		rule: "misspelled", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObjekt", "Parameters": {"Bucket": "b", "Key.$": "$.k"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"Bucket": "b", "Key.$": "$.k"}, "End": true}`),
	},
	{
		rule: "known-integration", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s4:getObject", "Parameters": {"Bucket": "b", "Key.$": "$.k"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"Bucket": "b", "Key.$": "$.k"}, "End": true}`),
	},
	{
		rule: "known-integration", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:paintObject", "Parameters": {"Bucket": "b", "Key.$": "$.k"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"Bucket": "b", "Key.$": "$.k"}, "End": true}`),
	},
	{
		rule: "parameter", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"Bucket": "b"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"Bucket": "b", "Key.$": "$.k"}, "End": true}`),
	},
	{
		rule: "parameter", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"Bucket": "b", "Key": "k", "Rang": "x"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"Bucket": "b", "Key": "k", "Range": "x"}, "End": true}`),
	},
	{
		rule: "parameter", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Parameters": {"bucket": "b", "Bucket": "b", "Key": "k"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:putObject", "Parameters": {"Bucket": "b", "Key": "k", "ContentMD5": "x", "SSEKMSKeyId": "x"}, "End": true}`),
	},
	{
		rule: "parameter", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"MessageBody": "x"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"MessageBody": "x", "QueueUrl.$": "$.q"}, "End": true}`),
	},
	{
		rule: "parameter", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payloda": 1}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload": 1}, "End": true}`),
	},
	{rule: "context", bad: taskWith(`"Parameters": {"id.$": "$$.Execution.Idd"}, `), good: taskWith(`"Parameters": {"id.$": "$$.Execution.Id", "i.$": "$$.Execution.Input.a"}, `)},
	{
		rule: "format", bad: taskWith(`"Parameters": {"id.$": "States.Array(States.Format('{} and {}', $.a))"}, `),
		good: taskWith(`"Parameters": {"id.$": "States.Format('{} and \\{}', $.a)"}, `),
	},
	{
		rule: "express", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:eu-west-1:111111111111:activity:pay", "End": true}`), good: taskWith(""),
		opts: []asl.Option{asl.Express()},
	},
	{
		rule: "express", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::ecs:runTask.sync", "End": true}`), good: taskWith(""),
		opts: []asl.Option{asl.Express()},
	},
	{rule: "express", bad: mapWith(distributed, ""), good: mapWith("", ""), opts: []asl.Option{asl.Express()}},
	{
		rule: "express",
		bad: strings.Replace(mapWith(`"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}, `, ""), `{"Type": "Succeed"}`,
			`{"Type": "Task", "Resource": "arn:aws:states:::ecs:runTask.sync", "End": true}`, 1),
		good: strings.Replace(mapWith(distributed, ""), `{"Type": "Succeed"}`, `{"Type": "Task", "Resource": "arn:aws:states:::ecs:runTask.sync", "End": true}`, 1),
	},
	{rule: "heartbeat", bad: taskWith(`"TimeoutSeconds": 9, "HeartbeatSeconds": 9, `), good: taskWith(`"TimeoutSeconds": 9, "HeartbeatSeconds": 8, `)},
	{
		rule: "credentials", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:a", "Credentials": {"RoleArn": "r"}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:a", "End": true}`),
	},
	{rule: "credentials", bad: taskWith(`"Credentials": {"Role": "r"}, `), good: taskWith(`"Credentials": {"RoleArn.$": "$.role"}, `), schema: true},
	{
		rule: "task-token", bad: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {"MessageBody": ` +
			`{"token.$": "$$.Task.Token"}}, "End": true}`),
	},

	{
		rule: "states-all", bad: taskWith(`"Retry": [{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["E"]}], `),
		good: taskWith(`"Retry": [{"ErrorEquals": ["E"]}, {"ErrorEquals": ["States.ALL"]}], `),
	},
	{
		rule: "unknown-error", bad: taskWith(`"Retry": [{"ErrorEquals": ["States.TimeOut"]}], `),
		good: taskWith(`"Retry": [{"ErrorEquals": ["States.Timeout", "States.Http.StatusCode.500"]}], `),
	},
	{
		rule: "unused", bad: taskWith(`"Catch": [{"ErrorEquals": ["E"], "Next": "A"}, {"ErrorEquals": ["E"], "Next": "A"}], `),
		good: taskWith(`"Catch": [{"ErrorEquals": ["E"], "Next": "A"}, {"ErrorEquals": ["E", "F"], "Next": "A"}], `),
	},
	{
		rule: "unused", bad: taskWith(`"Retry": [{"ErrorEquals": ["States.TaskFailed"]}, {"ErrorEquals": ["E"]}], `),
		good: taskWith(`"Retry": [{"ErrorEquals": ["E"]}, {"ErrorEquals": ["States.TaskFailed"]}], `),
	},
	{
		rule: "unused", bad: taskWith(`"Retry": [{"ErrorEquals": ["States.Timeout"]}, {"ErrorEquals": ["States.HeartbeatTimeout"]}], `),
		good: taskWith(`"Retry": [{"ErrorEquals": ["States.HeartbeatTimeout"]}, {"ErrorEquals": ["States.Timeout"]}], `),
	},
	{rule: "unused", bad: taskWith(`"Retry": [{"ErrorEquals": ["States.Runtime"]}], `), good: taskWith(`"Retry": [{"ErrorEquals": ["States.ALL"]}], `)},
	{
		rule: "max-delay", bad: taskWith(`"Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 5, "MaxDelaySeconds": 5}], `),
		good: taskWith(`"Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 5, "MaxDelaySeconds": 6}], `),
	},
	{
		rule: "revert-to", bad: taskWith(`"Catch": [{"ErrorEquals": ["E"], "Next": "A", "Revert": {"To": "A"}}], `),
		good: taskWith(`"Revert": "exec:y", "Catch": [{"ErrorEquals": ["E"], "Next": "A", "Revert": {"To": "A"}}], `),
	},
	{
		rule: "revert-to", bad: mapWith(``, `"Catch": [{"ErrorEquals": ["E"], "Next": "A", "Revert": {"To": "A"}}], `),
		good: machineOf(`"A": {"Type": "Map", "Iterator": {"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "End": true}}},
			"Catch": [{"ErrorEquals": ["E"], "Next": "A", "Revert": {"To": "A"}}], "End": true}`),
	},
	{
		rule: "stays-done", bad: machineOf(`"A": {"Type": "Task", "Resource": "exec:x", "Next": "B"},
			"B": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "exec:x", "Revert": "none", "Next": "B"},
			"B": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "Next": "C"},
			"C": {"Type": "Task", "Resource": "exec:x", "End": true}`),
	},
	{
		rule: "stays-done", bad: machineOf(`"A": {"Type": "Map", "ItemProcessor": {"StartAt": "B", "States": {
			"B": {"Type": "Task", "Resource": "exec:x", "End": true}}}, "Next": "C"},
			"C": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "exec:x", "Revert": false, "Next": "B"},
			"B": {"Type": "Task", "Resource": "exec:x", "Next": "C"},
			"C": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "End": true}`),
	},
	{
		rule: "stays-done", bad: machineOf(`"A": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "Next": "M"},
			"M": {"Type": "Map", "ItemProcessor": {"StartAt": "B", "States": {
			"B": {"Type": "Task", "Resource": "exec:x", "End": true}}}, "End": true}`),
		good: machineOf(`"A": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "Next": "M"},
			"M": {"Type": "Map", "ItemProcessor": {"StartAt": "B", "States": {
			"B": {"Type": "Task", "Resource": "exec:x", "Revert": "none", "End": true}}}, "Next": "C"},
			"C": {"Type": "Task", "Resource": "exec:x", "End": true}`),
	},
	{
		rule: "stays-done", bad: machineOf(`"A": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "End": true}}},
			{"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "exec:x", "End": true}}}]}`),
		good: machineOf(`"A": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "Next": "D"},
				"D": {"Type": "Task", "Resource": "exec:x", "Revert": "none", "End": true}}},
			{"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "End": true}}}]}`),
	},
	{
		rule: "revert-inside", bad: taskWith(`"Revert": false, "Catch": [{"ErrorEquals": ["E"], "Next": "A", "Revert": "inside"}], `),
		good: taskWith(`"Revert": "exec:y", "Catch": [{"ErrorEquals": ["E"], "Next": "A", "Revert": "inside"}], `),
	},
	{
		rule: "revert-inside", bad: machineOf(`"A": {"Type": "Parallel", "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}],
			"Catch": [{"ErrorEquals": ["E"], "Next": "A", "Revert": "inside"}], "End": true}`),
		good: machineOf(`"A": {"Type": "Parallel", "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "End": true}}}],
			"Catch": [{"ErrorEquals": ["E"], "Next": "A", "Revert": "inside"}], "End": true}`),
	},
	{
		rule: "revert-failed", bad: taskWith(`"Catch": [{"ErrorEquals": ["Ebb.RevertFailed"], "Next": "A", "Revert": "all"}], `),
		good: taskWith(`"Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "A", "Revert": "all"}, {"ErrorEquals": ["Ebb.RevertFailed"], "Next": "A"}], `),
	},
	{
		rule: "revert-retry", bad: taskWith(`"Revert": {"Resource": "exec:y", "Retry": [{"ErrorEquals": ["E"]}]}, `),
		good: taskWith(`"Revert": {"Resource": "exec:y", "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 5}]}, `),
	},
	{
		rule: "error-and-cause", bad: machineOf(`"A": {"Type": "Fail", "Error": "E"}`), good: machineOf(`"A": {"Type": "Fail", "Error": "E", "CausePath": "$.c"}`),
		opts: []asl.Option{asl.Under(asl.Spec2016)},
	},

	{rule: "operator", bad: choiceWith(`{"Variable": "$.x", "Next": "B"}`), good: choiceWith(`{"Variable": "$.x", "IsNull": true, "Next": "B"}`), schema: true},
	{
		rule: "operator", bad: choiceWith(`{"Variable": "$.x", "IsNull": true, "IsString": true, "Next": "B"}`),
		good: choiceWith(`{"Or": [{"Variable": "$.x", "IsNull": true}, {"Variable": "$.x", "IsString": true}], "Next": "B"}`), schema: true,
	},
	{
		rule: "operator", bad: choiceWith(`{"Variable": "$.x", "StringEqual": "x", "Next": "B"}`),
		good: choiceWith(`{"Variable": "$.x", "StringEquals": "x", "Next": "B"}`), schema: true,
	},
	{
		rule: "inner-rule", bad: choiceWith(`{"Not": {"Variable": "$.x", "IsNull": true, "Next": "B"}, "Next": "B"}`),
		good: choiceWith(`{"Not": {"Variable": "$.x", "IsNull": true, "Comment": ""}, "Next": "B"}`), schema: true,
	},

	{rule: "distributed", bad: mapWith("", `"Label": "L", `), good: mapWith(distributed, `"Label": "L", `)},
	{rule: "distributed", bad: mapWith(`"ProcessorConfig": {"Mode": "DISTRIBUTED"}, `, ""), good: mapWith(distributed, "")},
	{rule: "distributed", bad: mapWith(`"ProcessorConfig": {"ExecutionType": "STANDARD"}, `, ""), good: mapWith(distributed, "")},
	{rule: "tolerated", bad: mapWith("", `"ToleratedFailureCount": 1, `), good: mapWith(distributed, `"ToleratedFailureCount": 1, `)},
	{rule: "label", bad: mapWith(distributed, `"Label": "a b", `), good: mapWith(distributed, `"Label": "a_b", `), schema: true},
	{rule: "label", bad: mapWith(distributed, `"Label": "", `), good: mapWith(distributed, `"Label": "1", `), schema: true},
	{rule: "label", bad: mapWith(distributed, `"Label": "`+strings.Repeat("l", 41)+`", `), good: mapWith(distributed, `"Label": "l", `), schema: true},
	{
		rule: "label-once",
		bad: machineOf(`"A": {"Type": "Map", "Label": "L", "ItemProcessor": {` + distributed + `"StartAt": "B", "States": {"B": {"Type": "Map", "Label": "L", ` +
			`"ItemProcessor": {` + distributed + `"StartAt": "C", "States": {"C": {"Type": "Succeed"}}}, "End": true}}}, "End": true}`),
		good: mapWith(distributed, `"Label": "L", `),
	},
	{
		rule: "reader",
		bad:  mapWith(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b", "Key": "k"}}, `),
		good: mapWith(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:listObjectsV2", "Parameters": {"Bucket": "b"}}, `),
	},
	{
		rule: "csv-headers",
		bad:  mapWith(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "CSV"}}, `),
		good: mapWith(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}}, `),
	},
	{
		rule: "csv-headers",
		bad: mapWith(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON", `+
			`"CSVHeaderLocation": "FIRST_ROW"}}, `),
		good: mapWith(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "JSON"}}, `),
	},
	{
		rule: "csv-headers",
		bad: mapWith(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "CSV", `+
			`"CSVHeaderLocation": "GIVEN"}}, `),
		good: mapWith(distributed, `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "ReaderConfig": {"InputType": "CSV", `+
			`"CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a"]}}, `),
	},
	{
		rule: "batch-limit", bad: mapWith(distributed, `"ItemBatcher": {"BatchInput": {}}, `),
		good: mapWith(distributed, `"ItemBatcher": {"BatchInput": {}, "MaxInputBytesPerBatch": 100}, `),
	},

	{rule: "placeholder", bad: machineOf(`"A": {"Type": "Task", "Resource": "${PayArn}", "End": true}`), good: taskWith(``), schema: true},
	{
		rule: "placeholder", bad: machineOf(`"A": {"Type": "Task", "Resource": {"Fn::Sub": "exec:${Name}"}, "End": true}`),
		good: taskWith(``), schema: true,
	},
	{
		rule: "placeholder", bad: machineOf(`"A": {"Type": "Task", "Resource": {"Fn::GetAtt": ["Pay", "Arn"]}, "TimeoutSeconds": "${Seconds}", "End": true}`),
		good: taskWith(``), schema: true,
	},
}
