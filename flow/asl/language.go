package asl

import (
	"math"
	"sync"
)

// What the objects of the language look like.

// anyText is a field of both query languages that holds any text.
var anyText = field{both, textRule{}}

var (
	stateFields    = fields{"Type": {both, typeRule{}}, "Comment": anyText, "QueryLanguage": {both, languageRule{}}}
	nextFields     = fields{"Next": {both, targetRule{}}, "End": {both, boolRule{}}}
	dataFields     = fields{"InputPath": {inJSONPath, dataPathRule}, "OutputPath": {inJSONPath, dataPathRule}, "Output": {inJSONata, payloadRule{}}}
	assignFields   = fields{"Assign": {both, assignRule{}}}
	parameterField = fields{"Parameters": {inJSONPath, payloadRule{}}}
	resultFields   = fields{"ResultPath": {inJSONPath, pathRule{null: true, result: true}}}
	selectorField  = fields{"ResultSelector": {inJSONPath, payloadRule{}}}
	argumentField  = fields{"Arguments": {inJSONata, payloadRule{}}}
	errorFields    = fields{"Retry": {both, listRule{of: retrierObject}}, "Catch": {both, listRule{of: catcherObject}}}
)

var (
	levelFields = fields{"Comment": anyText, "StartAt": {both, targetRule{}}, "States": {both, statesRule{}}}
	levelNeeds  = []string{"States", "StartAt"}

	machineObject = &objectRule{
		name: "machine", what: "a state machine",
		fields: fields{
			"QueryLanguage": stateFields["QueryLanguage"], "Version": {both, wordRule{"1.0"}}, "TimeoutSeconds": {both, secondsRule},
		}.with(levelFields),
		required: levelNeeds,
		also:     []valueCheck{levelCheck{}},
	}
	branchObject    = &objectRule{name: "branch", what: "a branch", fields: levelFields, required: levelNeeds, also: []valueCheck{levelCheck{}}}
	processorObject = &objectRule{
		name: "processor", what: "an ItemProcessor",
		fields: fields{"ProcessorConfig": {both, processorConfigObject}}.with(levelFields), required: levelNeeds, also: []valueCheck{levelCheck{}},
	}
	processorConfigObject = &objectRule{
		name: "processorConfig", what: "a ProcessorConfig",
		fields: fields{"Mode": {both, wordRule{"INLINE", "DISTRIBUTED"}}, "ExecutionType": {both, wordRule{"STANDARD", "EXPRESS"}}},
	}
)

// stateForms are the states, by their types.
var stateForms = [...]*objectRule{
	passState: {
		name: "Pass", what: "a Pass state",
		fields: fields{"Result": {inJSONPath, resultRule{}}}.with(stateFields, nextFields, dataFields, assignFields, parameterField, resultFields),
		also:   []valueCheck{nextOrEnd{}},
	},
	taskState: {
		name: "Task", what: "a Task state",
		fields: fields{
			"Resource": {both, resourceRule{}}, "Credentials": {both, credentialsRule{}}, "Revert": {both, revertRule{}},
			"TimeoutSeconds": {both, expressionOr{secondsRule}}, "TimeoutSecondsPath": {inJSONPath, referenceRule},
			"HeartbeatSeconds": {both, expressionOr{secondsRule}}, "HeartbeatSecondsPath": {inJSONPath, referenceRule},
		}.with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField, errorFields),
		required: []string{"Resource"},
		mayOneOf: [][]string{{"TimeoutSeconds", "TimeoutSecondsPath"}, {"HeartbeatSeconds", "HeartbeatSecondsPath"}},
		also:     []valueCheck{nextOrEnd{}, heartbeatCheck{}, taskTokenCheck{}, unusedCheck{}},
	},
	choiceState: {
		name: "Choice", what: "a Choice state",
		fields: fields{"Choices": {both, listRule{of: choiceRule{}, least: 1}}, "Default": {both, targetRule{}}}.
			with(stateFields, dataFields, assignFields),
		required: []string{"Choices"},
	},
	waitState: {
		name: "Wait", what: "a Wait state",
		fields: fields{
			"Seconds": {both, expressionOr{wholeRule{0, maxSeconds}}}, "SecondsPath": {inJSONPath, referenceRule},
			"Timestamp": {both, expressionOr{timestampRule{}}}, "TimestampPath": {inJSONPath, referenceRule},
		}.with(stateFields, nextFields, dataFields, assignFields),
		oneOf: [][]string{{"Seconds", "SecondsPath", "Timestamp", "TimestampPath"}},
		also:  []valueCheck{nextOrEnd{}},
	},
	succeedState: {name: "Succeed", what: "a Succeed state", fields: stateFields.with(dataFields)},
	failState: {
		name: "Fail", what: "a Fail state",
		fields: fields{
			"Error": {both, expressionOr{messageRule{}}}, "ErrorPath": {inJSONPath, dynamicRule{}},
			"Cause": {both, expressionOr{messageRule{}}}, "CausePath": {inJSONPath, dynamicRule{}},
		}.with(stateFields),
		mayOneOf: [][]string{{"Error", "ErrorPath"}, {"Cause", "CausePath"}},
		also:     []valueCheck{errorCauseCheck{}},
	},
	parallelState: {
		name: "Parallel", what: "a Parallel state",
		fields: fields{"Branches": {both, listRule{of: levelRule{branchObject}, least: 1}}}.
			with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField, errorFields),
		required: []string{"Branches"},
		also:     []valueCheck{nextOrEnd{}, unusedCheck{}},
	},
	mapState: {
		name: "Map", what: "a Map state",
		fields: fields{
			"ItemProcessor": {both, processorRule{}}, "Iterator": {both, processorRule{}},
			"Items": {inJSONata, itemsRule{}}, "ItemsPath": {inJSONPath, referenceRule}, "ItemSelector": {both, payloadRule{}},
			"MaxConcurrency": {both, expressionOr{wholeRule{0, maxSeconds}}}, "MaxConcurrencyPath": {inJSONPath, referenceRule},
			"ItemReader": {both, itemReaderObject}, "ItemBatcher": {both, itemBatcherObject}, "ResultWriter": {both, resultWriterObject},
			"Label":                 {both, labelRule{}},
			"ToleratedFailureCount": {both, expressionOr{wholeRule{0, maxSeconds}}}, "ToleratedFailureCountPath": {inJSONPath, referenceRule},
			"ToleratedFailurePercentage": {both, expressionOr{numberRule{0, 100}}}, "ToleratedFailurePercentagePath": {inJSONPath, referenceRule},
		}.with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, errorFields),
		oneOf: [][]string{{"ItemProcessor", "Iterator"}},
		mayOneOf: [][]string{
			{"ItemSelector", "Parameters"},
			{"MaxConcurrency", "MaxConcurrencyPath"},
			{"ToleratedFailureCount", "ToleratedFailureCountPath"},
			{"ToleratedFailurePercentage", "ToleratedFailurePercentagePath"},
		},
		also: []valueCheck{nextOrEnd{}, distributedCheck{}, unusedCheck{}},
	},
}

// What belongs to states.
var (
	retrierObject = &objectRule{
		name: "retrier", what: "a retrier",
		fields: fields{
			"ErrorEquals": {both, errorsRule{}}, "IntervalSeconds": {both, secondsRule}, "MaxAttempts": {both, wholeRule{0, maxSeconds}},
			"BackoffRate": {both, numberRule{1, math.MaxFloat64}}, "MaxDelaySeconds": {both, wholeRule{1, maxDelay}},
			"JitterStrategy": {both, wordRule{"FULL", "NONE"}}, "Comment": anyText,
		},
		required: []string{"ErrorEquals"},
		also:     []valueCheck{maxDelayCheck{}},
	}
	catcherObject = &objectRule{
		name: "catcher", what: "a catcher",
		fields: fields{"ErrorEquals": {both, errorsRule{}}, "Next": {both, targetRule{}}, "Revert": {both, catchRevertRule{}}, "Comment": anyText}.
			with(resultFields, assignFields, fields{"Output": dataFields["Output"]}),
		required: []string{"ErrorEquals", "Next"},
	}
	catchRevertObject = &objectRule{
		name: "catchRevert", what: "the Revert of a catcher",
		fields: fields{"To": {both, targetRule{}}}, required: []string{"To"},
	}
	// choiceRuleObject is a rule of a Choice state in JSONata. In JSONPath it is a
	// condition with these fields beside it.
	choiceRuleObject = &objectRule{
		name: "rule", what: "a rule",
		fields: fields{"Condition": {inJSONata, conditionRule{}}, "Next": {both, targetRule{}}, "Comment": anyText, "Output": dataFields["Output"]}.
			with(assignFields),
		required: []string{"Condition", "Next"},
	}
	revertObject = &objectRule{
		name: "revert", what: "a Revert",
		fields:   fields{"Resource": {both, resourceRule{}}, "Retry": errorFields["Retry"]}.with(parameterField, argumentField),
		required: []string{"Resource"},
		also:     []valueCheck{revertRetryCheck{}},
	}
)

// What belongs to distributed Map states.
var (
	itemReaderObject = &objectRule{
		name: "itemReader", what: "an ItemReader",
		fields:   fields{"Resource": {both, resourceRule{}}, "ReaderConfig": {both, readerConfigObject}}.with(parameterField, argumentField),
		required: []string{"Resource"},
	}
	readerConfigObject = &objectRule{
		name: "readerConfig", what: "a ReaderConfig",
		fields: fields{
			"InputType":         {both, wordRule{"CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"}},
			"CSVHeaderLocation": {both, wordRule{"FIRST_ROW", "GIVEN"}}, "CSVHeaders": {both, listRule{of: textRule{}}},
			"CSVDelimiter": {both, wordRule{"COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"}},
			"MaxItems":     {both, expressionOr{wholeRule{0, maxItems}}}, "MaxItemsPath": {inJSONPath, referenceRule},
			"ItemsPointer": anyText, "ManifestType": {both, wordRule{"ATHENA_DATA", "S3_INVENTORY"}},
			"Transformation": {both, wordRule{"NONE", "LOAD_AND_FLATTEN"}},
		},
		mayOneOf: [][]string{{"MaxItems", "MaxItemsPath"}},
		also:     []valueCheck{headersCheck{}},
	}
	itemBatcherObject = &objectRule{
		name: "itemBatcher", what: "an ItemBatcher",
		fields: fields{
			"BatchInput":       {both, payloadRule{}},
			"MaxItemsPerBatch": {both, expressionOr{secondsRule}}, "MaxItemsPerBatchPath": {inJSONPath, referenceRule},
			"MaxInputBytesPerBatch": {both, expressionOr{wholeRule{1, MaxPayload}}}, "MaxInputBytesPerBatchPath": {inJSONPath, referenceRule},
		},
		mayOneOf: [][]string{{"MaxItemsPerBatch", "MaxItemsPerBatchPath"}, {"MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath"}},
		also:     []valueCheck{batchLimitCheck{}},
	}
	resultWriterObject = &objectRule{
		name: "resultWriter", what: "a ResultWriter",
		fields: fields{"Resource": {both, resourceRule{}}, "WriterConfig": {both, writerConfigObject}}.with(parameterField, argumentField),
	}
	writerConfigObject = &objectRule{
		name: "writerConfig", what: "a WriterConfig",
		fields: fields{"Transformation": {both, wordRule{"NONE", "COMPACT", "FLATTEN"}}, "OutputType": {both, wordRule{"JSON", "JSONL"}}},
	}
)

// knownFields are the names that mean something somewhere: out of place they are
// errors, while unknown ones are merely warned of.
var knownFields = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{"Variable": true}
	for _, f := range append(stateForms[:], machineObject, processorObject, processorConfigObject, retrierObject, catcherObject, choiceRuleObject) {
		for name := range f.fields {
			known[name] = true
		}
	}
	for name := range operators {
		known[name] = true
	}
	return known
})
