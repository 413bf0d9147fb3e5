package asl

import (
	"math"
	"sync"
)

// What the objects of the language look like.

// anyText is a field of both query languages that holds any text.
var anyText = field{both, textShape{}}

var (
	stateFields    = fields{"Type": {both, typeShape{}}, "Comment": anyText, "QueryLanguage": {both, languageShape{}}}
	nextFields     = fields{"Next": {both, targetShape{}}, "End": {both, boolShape{}}}
	dataFields     = fields{"InputPath": {inJSONPath, dataPathShape}, "OutputPath": {inJSONPath, dataPathShape}, "Output": {inJSONata, payloadShape{}}}
	assignFields   = fields{"Assign": {both, assignShape{}}}
	parameterField = fields{"Parameters": {inJSONPath, payloadShape{}}}
	resultFields   = fields{"ResultPath": {inJSONPath, pathShape{null: true, result: true}}}
	selectorField  = fields{"ResultSelector": {inJSONPath, payloadShape{}}}
	argumentField  = fields{"Arguments": {inJSONata, payloadShape{}}}
	errorFields    = fields{"Retry": {both, listShape{of: retrierForm}}, "Catch": {both, listShape{of: catcherForm}}}
)

var (
	levelFields = fields{"Comment": anyText, "StartAt": {both, targetShape{}}, "States": {both, statesShape{}}}
	levelNeeds  = []string{"States", "StartAt"}

	machineForm = &form{
		name: "machine", what: "a state machine",
		fields: fields{
			"QueryLanguage": stateFields["QueryLanguage"], "Version": {both, wordShape{"1.0"}}, "TimeoutSeconds": {both, secondsShape},
		}.with(levelFields),
		required: levelNeeds,
		also:     []demand{levelDemand{}},
	}
	branchForm    = &form{name: "branch", what: "a branch", fields: levelFields, required: levelNeeds, also: []demand{levelDemand{}}}
	processorForm = &form{
		name: "processor", what: "an ItemProcessor",
		fields: fields{"ProcessorConfig": {both, processorConfigForm}}.with(levelFields), required: levelNeeds, also: []demand{levelDemand{}},
	}
	processorConfigForm = &form{
		name: "processorConfig", what: "a ProcessorConfig",
		fields: fields{"Mode": {both, wordShape{"INLINE", "DISTRIBUTED"}}, "ExecutionType": {both, wordShape{"STANDARD", "EXPRESS"}}},
	}
)

// stateForms are the states, by their types.
var stateForms = [...]*form{
	passState: {
		name: "Pass", what: "a Pass state",
		fields: fields{"Result": {inJSONPath, resultShape{}}}.with(stateFields, nextFields, dataFields, assignFields, parameterField, resultFields),
		also:   []demand{nextOrEnd{}},
	},
	taskState: {
		name: "Task", what: "a Task state",
		fields: fields{
			"Resource": {both, resourceShape{}}, "Credentials": {both, credentialsShape{}}, "Revert": {both, revertShape{}},
			"TimeoutSeconds": {both, expressionOr{secondsShape}}, "TimeoutSecondsPath": {inJSONPath, referenceShape},
			"HeartbeatSeconds": {both, expressionOr{secondsShape}}, "HeartbeatSecondsPath": {inJSONPath, referenceShape},
		}.with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField, errorFields),
		required: []string{"Resource"},
		mayOneOf: [][]string{{"TimeoutSeconds", "TimeoutSecondsPath"}, {"HeartbeatSeconds", "HeartbeatSecondsPath"}},
		also:     []demand{nextOrEnd{}, heartbeatDemand{}, taskTokenDemand{}, unusedDemand{}},
	},
	choiceState: {
		name: "Choice", what: "a Choice state",
		fields: fields{"Choices": {both, listShape{of: choiceShape{}, least: 1}}, "Default": {both, targetShape{}}}.
			with(stateFields, dataFields, assignFields),
		required: []string{"Choices"},
	},
	waitState: {
		name: "Wait", what: "a Wait state",
		fields: fields{
			"Seconds": {both, expressionOr{wholeShape{0, maxSeconds}}}, "SecondsPath": {inJSONPath, referenceShape},
			"Timestamp": {both, expressionOr{timestampShape{}}}, "TimestampPath": {inJSONPath, referenceShape},
		}.with(stateFields, nextFields, dataFields, assignFields),
		oneOf: [][]string{{"Seconds", "SecondsPath", "Timestamp", "TimestampPath"}},
		also:  []demand{nextOrEnd{}},
	},
	succeedState: {name: "Succeed", what: "a Succeed state", fields: stateFields.with(dataFields)},
	failState: {
		name: "Fail", what: "a Fail state",
		fields: fields{
			"Error": {both, expressionOr{messageShape{}}}, "ErrorPath": {inJSONPath, dynamicShape{}},
			"Cause": {both, expressionOr{messageShape{}}}, "CausePath": {inJSONPath, dynamicShape{}},
		}.with(stateFields),
		mayOneOf: [][]string{{"Error", "ErrorPath"}, {"Cause", "CausePath"}},
		also:     []demand{errorCauseDemand{}},
	},
	parallelState: {
		name: "Parallel", what: "a Parallel state",
		fields: fields{"Branches": {both, listShape{of: levelShape{branchForm}, least: 1}}}.
			with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField, errorFields),
		required: []string{"Branches"},
		also:     []demand{nextOrEnd{}, unusedDemand{}},
	},
	mapState: {
		name: "Map", what: "a Map state",
		fields: fields{
			"ItemProcessor": {both, processorShape{}}, "Iterator": {both, processorShape{}},
			"Items": {inJSONata, itemsShape{}}, "ItemsPath": {inJSONPath, referenceShape}, "ItemSelector": {both, payloadShape{}},
			"MaxConcurrency": {both, expressionOr{wholeShape{0, maxSeconds}}}, "MaxConcurrencyPath": {inJSONPath, referenceShape},
			"ItemReader": {both, itemReaderForm}, "ItemBatcher": {both, itemBatcherForm}, "ResultWriter": {both, resultWriterForm},
			"Label":                 {both, labelShape{}},
			"ToleratedFailureCount": {both, expressionOr{wholeShape{0, maxSeconds}}}, "ToleratedFailureCountPath": {inJSONPath, referenceShape},
			"ToleratedFailurePercentage": {both, expressionOr{numberShape{0, 100}}}, "ToleratedFailurePercentagePath": {inJSONPath, referenceShape},
		}.with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, errorFields),
		oneOf: [][]string{{"ItemProcessor", "Iterator"}},
		mayOneOf: [][]string{
			{"ItemSelector", "Parameters"},
			{"MaxConcurrency", "MaxConcurrencyPath"},
			{"ToleratedFailureCount", "ToleratedFailureCountPath"},
			{"ToleratedFailurePercentage", "ToleratedFailurePercentagePath"},
		},
		also: []demand{nextOrEnd{}, distributedDemand{}, unusedDemand{}},
	},
}

// What belongs to states.
var (
	retrierForm = &form{
		name: "retrier", what: "a retrier",
		fields: fields{
			"ErrorEquals": {both, errorsShape{}}, "IntervalSeconds": {both, secondsShape}, "MaxAttempts": {both, wholeShape{0, maxSeconds}},
			"BackoffRate": {both, numberShape{1, math.MaxFloat64}}, "MaxDelaySeconds": {both, wholeShape{1, maxDelay}},
			"JitterStrategy": {both, wordShape{"FULL", "NONE"}}, "Comment": anyText,
		},
		required: []string{"ErrorEquals"},
		also:     []demand{maxDelayDemand{}},
	}
	catcherForm = &form{
		name: "catcher", what: "a catcher",
		fields: fields{"ErrorEquals": {both, errorsShape{}}, "Next": {both, targetShape{}}, "Revert": {both, catchRevertShape{}}, "Comment": anyText}.
			with(resultFields, assignFields, fields{"Output": dataFields["Output"]}),
		required: []string{"ErrorEquals", "Next"},
	}
	catchRevertForm = &form{
		name: "catchRevert", what: "the Revert of a catcher",
		fields: fields{"To": {both, targetShape{}}}, required: []string{"To"},
	}
	// ruleForm is a rule of a Choice state in JSONata. In JSONPath it is a
	// condition with these fields beside it.
	ruleForm = &form{
		name: "rule", what: "a rule",
		fields: fields{"Condition": {inJSONata, conditionShape{}}, "Next": {both, targetShape{}}, "Comment": anyText, "Output": dataFields["Output"]}.
			with(assignFields),
		required: []string{"Condition", "Next"},
	}
	revertForm = &form{
		name: "revert", what: "a Revert",
		fields:   fields{"Resource": {both, resourceShape{}}, "Retry": errorFields["Retry"]}.with(parameterField, argumentField),
		required: []string{"Resource"},
		also:     []demand{revertRetryDemand{}},
	}
)

// What belongs to distributed Map states.
var (
	itemReaderForm = &form{
		name: "itemReader", what: "an ItemReader",
		fields:   fields{"Resource": {both, resourceShape{}}, "ReaderConfig": {both, readerConfigForm}}.with(parameterField, argumentField),
		required: []string{"Resource"},
	}
	readerConfigForm = &form{
		name: "readerConfig", what: "a ReaderConfig",
		fields: fields{
			"InputType":         {both, wordShape{"CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"}},
			"CSVHeaderLocation": {both, wordShape{"FIRST_ROW", "GIVEN"}}, "CSVHeaders": {both, listShape{of: textShape{}}},
			"CSVDelimiter": {both, wordShape{"COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"}},
			"MaxItems":     {both, expressionOr{wholeShape{0, maxItems}}}, "MaxItemsPath": {inJSONPath, referenceShape},
			"ItemsPointer": anyText, "ManifestType": {both, wordShape{"ATHENA_DATA", "S3_INVENTORY"}},
			"Transformation": {both, wordShape{"NONE", "LOAD_AND_FLATTEN"}},
		},
		mayOneOf: [][]string{{"MaxItems", "MaxItemsPath"}},
		also:     []demand{headersDemand{}},
	}
	itemBatcherForm = &form{
		name: "itemBatcher", what: "an ItemBatcher",
		fields: fields{
			"BatchInput":       {both, payloadShape{}},
			"MaxItemsPerBatch": {both, expressionOr{secondsShape}}, "MaxItemsPerBatchPath": {inJSONPath, referenceShape},
			"MaxInputBytesPerBatch": {both, expressionOr{wholeShape{1, MaxPayload}}}, "MaxInputBytesPerBatchPath": {inJSONPath, referenceShape},
		},
		mayOneOf: [][]string{{"MaxItemsPerBatch", "MaxItemsPerBatchPath"}, {"MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath"}},
		also:     []demand{batchLimitDemand{}},
	}
	resultWriterForm = &form{
		name: "resultWriter", what: "a ResultWriter",
		fields: fields{"Resource": {both, resourceShape{}}, "WriterConfig": {both, writerConfigForm}}.with(parameterField, argumentField),
	}
	writerConfigForm = &form{
		name: "writerConfig", what: "a WriterConfig",
		fields: fields{"Transformation": {both, wordShape{"NONE", "COMPACT", "FLATTEN"}}, "OutputType": {both, wordShape{"JSON", "JSONL"}}},
	}
)

// knownFields are the names that mean something somewhere: out of place they are
// errors, while unknown ones are merely warned of.
var knownFields = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{"Variable": true}
	for _, f := range append(stateForms[:], machineForm, processorForm, processorConfigForm, retrierForm, catcherForm, ruleForm) {
		for name := range f.fields {
			known[name] = true
		}
	}
	for name := range operators {
		known[name] = true
	}
	return known
})
