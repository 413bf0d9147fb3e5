package check

import (
	"math"
	"sync"
	"time"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// The objects of the language and their fields.

// The query languages for which fields are legal.
const (
	inJSONPath = syntax.JSONPath
	inJSONata  = syntax.JSONata
	both       = syntax.Both
)

type (
	state   = syntax.State
	level   = syntax.Level
	payload = expression.Payload
)

// anyText returns a field with any text, for people.
func anyText[T any]() field[T] { return checked[T, string](both, textRule{}) }

var (
	stateFields = fields[state]{
		"Type": checked[state, string](both, typeRule{}), "Comment": anyText[state](),
		"QueryLanguage": checked[state, string](both, languageRule{}),
	}
	nextFields = fields[state]{
		"Next": at(func(s *state) **state { return &s.Out.Next }).is(both, targetRule{}),
		"End":  at(func(s *state) *bool { return &s.Ends }).is(both, boolRule{}),
	}
	dataFields = fields[state]{
		"InputPath":  at(func(s *state) *expression.DataPath { return &s.InputPath }).is(inJSONPath, dataPathRule{}),
		"OutputPath": at(func(s *state) *expression.DataPath { return &s.Out.OutputPath }).is(inJSONPath, dataPathRule{}),
		"Output":     at(func(s *state) *payload { return &s.Out.Output }).is(inJSONata, payloadRule{}),
	}
	assignFields = fields[state]{"Assign": at(func(s *state) *[]syntax.Variable { return &s.Out.Assign }).is(both,
		assignRule{})}
	parameterField = fields[state]{"Parameters": at(argumentsOf).is(inJSONPath, payloadRule{})}
	argumentField  = fields[state]{"Arguments": at(argumentsOf).is(inJSONata, payloadRule{})}
	resultFields   = fields[state]{"ResultPath": at(func(s *state) *expression.DataPath { return &s.Out.ResultPath }).is(
		inJSONPath, resultPathRule)}
	selectorField = fields[state]{"ResultSelector": at(func(s *state) *payload { return &s.Out.Selector }).is(inJSONPath,
		payloadRule{})}
	errorFields = fields[state]{
		"Retry": at(func(s *state) *[]*syntax.Retrier { return &s.Retry }).is(both,
			listRule[*syntax.Retrier]{of: retrierObject}),
		"Catch": at(func(s *state) *[]*syntax.Catcher { return &s.Catch }).is(both,
			listRule[*syntax.Catcher]{of: catcherObject}),
	}
)

func argumentsOf(s *state) *payload { return &s.Arguments }

// amountFields returns a number field and the field for its path.
func amountFields[T any](name string, is valueRule[syntax.Amount], of func(*T) *syntax.Amount) fields[T] {
	path := func(c *checker, n *node, into *T) {
		a := of(into)
		a.Said, a.Path, a.Field = true, amountPath.read(c, n), n.Key
	}
	return fields[T]{name: at(of).is(both, is), name + "Path": {inJSONPath, amountPath, path}}
}

var (
	levelFields = fields[level]{
		"Comment": anyText[level](), "States": checked[level, struct{}](both, statesRule{}),
		"StartAt": at(func(l *level) **state { return &l.Start }).is(both, targetRule{}),
	}
	levelNeeds  = []string{"States", "StartAt"}
	levelChecks = []func(*checker, *node, *level){checkLevel}

	machineObject = &objectRule[level]{
		name: "machine", what: "a state machine",
		fields: fields[level]{
			"QueryLanguage": checked[level, string](both, languageRule{}),
			"Version":       checked[level, string](both, wordRule{"1.0"}),
			"TimeoutSeconds": at(func(l *level) *time.Duration { return &l.Timeout }).is(both,
				durationRule{wholeRule{0, syntax.MaxSeconds}}),
		}.with(levelFields),
		required: levelNeeds,
		also:     levelChecks,
	}
	branchObject = &objectRule[level]{
		name: "branch", what: "a branch", fields: levelFields, required: levelNeeds,
		also: levelChecks,
	}
	processorObject = &objectRule[level]{
		name: "processor", what: "an ItemProcessor",
		fields:   fields[level]{"ProcessorConfig": checked[level, *struct{}](both, processorConfigObject)}.with(levelFields),
		required: levelNeeds, also: levelChecks,
	}
	processorConfigObject = &objectRule[struct{}]{
		name: "processorConfig", what: "a ProcessorConfig",
		fields: fields[struct{}]{
			"Mode":          checked[struct{}, string](both, wordRule{"INLINE", "DISTRIBUTED"}),
			"ExecutionType": checked[struct{}, string](both, wordRule{"STANDARD", "EXPRESS"}),
		},
	}
)

// stateForms are the rules for states, by type.
var stateForms = [...]*objectRule[state]{
	syntax.PassState: {
		name: "Pass", what: "a Pass state",
		fields: fields[state]{"Result": at(func(s *state) **data.Value { return &s.Result }).is(inJSONPath, resultRule{})}.
			with(stateFields, nextFields, dataFields, assignFields, parameterField, resultFields),
		goesOn: true,
	},
	syntax.TaskState: {
		name: "Task", what: "a Task state",
		fields: fields[state]{
			"Resource":    at(func(s *state) *syntax.Resource { return &s.Task.Resource }).is(both, resourceRule{}),
			"Credentials": at(func(s *state) *payload { return &s.Task.Credentials }).is(both, credentialsRule{}),
			"Revert":      at(func(s *state) **syntax.Revert { return &s.Revert }).is(both, revertRule{}),
		}.with(
			amountFields("TimeoutSeconds", amountRule{secondsRule}, func(s *state) *syntax.Amount { return &s.Task.Timeout }),
			amountFields("HeartbeatSeconds", amountRule{secondsRule},
				func(s *state) *syntax.Amount { return &s.Task.Heartbeat }),
			stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField,
			errorFields,
		),
		required: []string{"Resource"},
		mayOneOf: [][]string{{"TimeoutSeconds", "TimeoutSecondsPath"}, {"HeartbeatSeconds", "HeartbeatSecondsPath"}},
		goesOn:   true,
		also:     []func(*checker, *node, *state){checkTask, checkUnused},
	},
	syntax.ChoiceState: {
		name: "Choice", what: "a Choice state",
		fields: fields[state]{
			"Choices": at(func(s *state) *[]*syntax.Rule { return &s.Choices }).is(both, listRule[*syntax.Rule]{
				of:    choiceRule{},
				least: 1,
			}),
			"Default": nextFields["Next"],
		}.with(stateFields, dataFields, assignFields),
		required: []string{"Choices"},
		also:     []func(*checker, *node, *state){outputPathOfRules},
	},
	syntax.WaitState: {
		name: "Wait", what: "a Wait state",
		fields: fields[state]{
			"Timestamp":     at(func(s *state) *syntax.Timestamp { return &s.Wait.Timestamp }).is(both, timestampRule{}),
			"TimestampPath": at(func(s *state) **jsonpath.Path { return &s.Wait.Timestamp.Path }).is(inJSONPath, referenceRule),
		}.with(
			amountFields("Seconds", amountRule{wholeRule{0, syntax.MaxSeconds}},
				func(s *state) *syntax.Amount { return &s.Wait.Seconds }),
			stateFields, nextFields, dataFields, assignFields,
		),
		oneOf:  [][]string{{"SecondsPath", "Seconds", "TimestampPath", "Timestamp"}},
		goesOn: true,
	},
	syntax.SucceedState: {name: "Succeed", what: "a Succeed state", fields: stateFields.with(dataFields)},
	syntax.FailState: {
		name: "Fail", what: "a Fail state",
		fields: fields[state]{
			"Error":     at(func(s *state) *syntax.Message { return &s.Failure.Err }).is(both, messageRule{}),
			"ErrorPath": at(func(s *state) *expression.Dynamic { return &s.Failure.Err.Given }).is(inJSONPath, dynamicRule{}),
			"Cause":     at(func(s *state) *syntax.Message { return &s.Failure.Cause }).is(both, messageRule{}),
			"CausePath": at(func(s *state) *expression.Dynamic { return &s.Failure.Cause.Given }).is(inJSONPath, dynamicRule{}),
		}.with(stateFields),
		mayOneOf: [][]string{{"Error", "ErrorPath"}, {"Cause", "CausePath"}},
		also:     []func(*checker, *node, *state){checkErrorAndCause},
	},
	syntax.ParallelState: {
		name: "Parallel", what: "a Parallel state",
		fields: fields[state]{"Branches": at(func(s *state) *[]*level { return &s.Branches }).is(both,
			listRule[*level]{of: levelRule{branchObject}, least: 1})}.
			with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField,
				errorFields),
		required: []string{"Branches"},
		goesOn:   true,
		also:     []func(*checker, *node, *state){checkUnused},
	},
	syntax.MapState: {
		name: "Map", what: "a Map state",
		fields: fields[state]{
			"ItemProcessor": at(processorIn).is(both, processorRule{}), "Iterator": at(processorIn).is(both, processorRule{}),
			"Items":        at(func(s *state) **syntax.Items { return &s.Items.Items }).is(inJSONata, itemsRule{}),
			"ItemsPath":    at(func(s *state) **jsonpath.Path { return &s.Items.Path }).is(inJSONPath, referenceRule),
			"ItemSelector": at(func(s *state) *payload { return &s.Items.Selector }).is(both, payloadRule{}),
			"ItemReader": at(func(s *state) **syntax.ItemReader { return &s.Items.Distributed.Reader }).is(both,
				itemReaderObject),
			"ItemBatcher": at(func(s *state) **syntax.ItemBatcher { return &s.Items.Distributed.Batcher }).is(both,
				itemBatcherObject),
			"ResultWriter": at(func(s *state) **syntax.ResultWriter { return &s.Items.Distributed.Writer }).is(both,
				resultWriterObject),
			"Label": at(func(s *state) *string { return &s.Items.Distributed.Label }).is(both, labelRule{}),
		}.with(
			amountFields("MaxConcurrency", amountRule{wholeRule{0, syntax.MaxSeconds}},
				func(s *state) *syntax.Amount { return &s.Items.Concurrency }),
			amountFields("ToleratedFailureCount", amountRule{wholeRule{0, syntax.MaxSeconds}},
				func(s *state) *syntax.Amount { return &s.Items.Count }),
			amountFields("ToleratedFailurePercentage", percentageRule{numberRule{0, 100}},
				func(s *state) *syntax.Amount { return &s.Items.Percentage }),
			stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, errorFields,
		),
		oneOf: [][]string{{"ItemProcessor", "Iterator"}},
		mayOneOf: [][]string{
			{"ItemSelector", "Parameters"},
			{"MaxConcurrency", "MaxConcurrencyPath"},
			{"ToleratedFailureCount", "ToleratedFailureCountPath"},
			{"ToleratedFailurePercentage", "ToleratedFailurePercentagePath"},
		},
		goesOn: true,
		also:   []func(*checker, *node, *state){checkDistributed, checkUnused},
	},
}

func processorIn(s *state) **level { return &s.Items.Processor }

// Objects in states.
var (
	retrierObject = &objectRule[syntax.Retrier]{
		name: "retrier", what: "a retrier",
		fields: fields[syntax.Retrier]{
			"ErrorEquals": at(func(r *syntax.Retrier) *[]string { return &r.Errors }).is(both, errorsRule{}),
			"IntervalSeconds": at(func(r *syntax.Retrier) *time.Duration { return &r.Interval }).is(both,
				durationRule{wholeRule{0, syntax.MaxSeconds}}),
			"MaxAttempts": at(func(r *syntax.Retrier) *int64 { return &r.Attempts }).is(both,
				wholeRule{0, syntax.MaxSeconds}),
			"BackoffRate": at(func(r *syntax.Retrier) *float64 { return &r.Rate }).is(both, numberRule{1, math.MaxFloat64}),
			"MaxDelaySeconds": at(func(r *syntax.Retrier) *time.Duration { return &r.Most }).is(both,
				durationRule{wholeRule{1, maxDelay}}),
			"JitterStrategy": at(func(r *syntax.Retrier) *string { return &r.Jitter }).is(both, wordRule{"NONE", "FULL"}),
			"Comment":        anyText[syntax.Retrier](),
		},
		required: []string{"ErrorEquals"},
		fresh:    func() *syntax.Retrier { return &syntax.Retrier{Interval: time.Second, Attempts: 3, Rate: 2} },
		also:     []func(*checker, *node, *syntax.Retrier){checkMaxDelay, placeRetrier},
	}
	catcherObject = &objectRule[syntax.Catcher]{
		name: "catcher", what: "a catcher",
		fields: fields[syntax.Catcher]{
			"ErrorEquals": at(func(k *syntax.Catcher) *[]string { return &k.Errors }).is(both, errorsRule{}),
			"Next":        at(func(k *syntax.Catcher) **state { return &k.Out.Next }).is(both, targetRule{}),
			"Revert":      at(func(k *syntax.Catcher) **syntax.Compensation { return &k.Revert }).is(both, catchRevertRule{}),
			"ResultPath": at(func(k *syntax.Catcher) *expression.DataPath { return &k.Out.ResultPath }).is(inJSONPath,
				resultPathRule),
			"Assign":  at(func(k *syntax.Catcher) *[]syntax.Variable { return &k.Out.Assign }).is(both, assignRule{}),
			"Output":  at(func(k *syntax.Catcher) *payload { return &k.Out.Output }).is(inJSONata, payloadRule{}),
			"Comment": anyText[syntax.Catcher](),
		},
		required: []string{"ErrorEquals", "Next"},
		fresh:    func() *syntax.Catcher { return &syntax.Catcher{Out: syntax.Transition{As: "errorOutput"}} },
		also:     []func(*checker, *node, *syntax.Catcher){placeCatcher},
	}
	catchRevertObject = &objectRule[syntax.Compensation]{
		name: "catchRevert", what: "the Revert of a catcher",
		fields: fields[syntax.Compensation]{"To": at(func(c *syntax.Compensation) **state { return &c.To }).is(both,
			targetRule{})}, required: []string{"To"},
	}
	// choiceRuleObject is the rule for a rule of a Choice state in JSONata. In JSONPath, the rule is a condition
	// with these fields.
	choiceRuleObject = &objectRule[syntax.Rule]{
		name: "rule", what: "a rule",
		fields: fields[syntax.Rule]{
			"Condition": at(func(r *syntax.Rule) *expression.Test { return &r.Test }).is(inJSONata, conditionRule{}),
			"Next":      at(func(r *syntax.Rule) **state { return &r.Out.Next }).is(both, targetRule{}),
			"Assign":    at(func(r *syntax.Rule) *[]syntax.Variable { return &r.Out.Assign }).is(both, assignRule{}),
			"Output":    at(func(r *syntax.Rule) *payload { return &r.Out.Output }).is(inJSONata, payloadRule{}),
			"Comment":   anyText[syntax.Rule](),
		},
		required: []string{"Condition", "Next"},
	}
	revertObject = &objectRule[syntax.Revert]{
		name: "revert", what: "a Revert",
		fields: fields[syntax.Revert]{
			"Resource":   at(func(r *syntax.Revert) *syntax.Resource { return &r.Resource }).is(both, resourceRule{}),
			"Parameters": at(func(r *syntax.Revert) *payload { return &r.Arguments }).is(inJSONPath, payloadRule{}),
			"Arguments":  at(func(r *syntax.Revert) *payload { return &r.Arguments }).is(inJSONata, payloadRule{}),
			"Retry": at(func(r *syntax.Revert) *[]*syntax.Retrier { return &r.Retry }).is(both,
				listRule[*syntax.Retrier]{of: retrierObject}),
		},
		required: []string{"Resource"},
		also:     []func(*checker, *node, *syntax.Revert){checkRevertRetry},
	}
)

// Objects in distributed Map states.
var (
	itemReaderObject = &objectRule[syntax.ItemReader]{
		name: "itemReader", what: "an ItemReader",
		fields: fields[syntax.ItemReader]{
			"Resource":   at(func(r *syntax.ItemReader) *syntax.Resource { return &r.Resource }).is(both, resourceRule{}),
			"Parameters": at(func(r *syntax.ItemReader) *payload { return &r.From }).is(inJSONPath, payloadRule{}),
			"Arguments":  at(func(r *syntax.ItemReader) *payload { return &r.From }).is(inJSONata, payloadRule{}),
			"ReaderConfig": at(func(r *syntax.ItemReader) **syntax.ItemReaderConfig { return &r.Config }).is(both,
				readerConfigObject),
		},
		required: []string{"Resource"},
		fresh:    func() *syntax.ItemReader { return &syntax.ItemReader{Config: &syntax.ItemReaderConfig{}} },
		also: []func(*checker, *node, *syntax.ItemReader){func(c *checker, n *node, r *syntax.ItemReader) {
			checkBucketAccess(c, n, &r.Resource, readers)
		}},
	}
	readerConfigObject = &objectRule[syntax.ItemReaderConfig]{
		name: "readerConfig", what: "a ReaderConfig",
		fields: fields[syntax.ItemReaderConfig]{
			"InputType": at(func(c *syntax.ItemReaderConfig) *string { return &c.InputType }).is(both,
				wordRule{"CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"}),
			"CSVHeaderLocation": at(func(c *syntax.ItemReaderConfig) *string { return &c.CSVHeaderLocation }).is(both,
				wordRule{"FIRST_ROW", "GIVEN"}),
			"CSVHeaders": at(func(c *syntax.ItemReaderConfig) *[]string { return &c.CSVHeaders }).is(both,
				listRule[string]{of: textRule{}}),
			"CSVDelimiter": at(func(c *syntax.ItemReaderConfig) *string { return &c.CSVDelimiter }).
				is(both, wordRule{"COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"}),
			"ItemsPointer": at(func(c *syntax.ItemReaderConfig) *string { return &c.ItemsPointer }).is(both, textRule{}),
			"ManifestType": at(func(c *syntax.ItemReaderConfig) *string { return &c.ManifestType }).is(both,
				wordRule{"ATHENA_DATA", "S3_INVENTORY"}),
			"Transformation": at(func(c *syntax.ItemReaderConfig) *string { return &c.Transformation }).is(both,
				wordRule{"NONE", "LOAD_AND_FLATTEN"}),
		}.with(amountFields("MaxItems", amountRule{wholeRule{0, syntax.MaxItems}},
			func(c *syntax.ItemReaderConfig) *syntax.Amount { return &c.MaxItems })),
		mayOneOf: [][]string{{"MaxItems", "MaxItemsPath"}},
		also:     []func(*checker, *node, *syntax.ItemReaderConfig){checkHeaders},
	}
	itemBatcherObject = &objectRule[syntax.ItemBatcher]{
		name: "itemBatcher", what: "an ItemBatcher",
		fields: fields[syntax.ItemBatcher]{"BatchInput": at(func(b *syntax.ItemBatcher) *payload { return &b.Input }).is(both,
			payloadRule{})}.with(
			amountFields("MaxItemsPerBatch", amountRule{secondsRule},
				func(b *syntax.ItemBatcher) *syntax.Amount { return &b.Items }),
			amountFields("MaxInputBytesPerBatch", amountRule{wholeRule{1, data.MaxPayload}},
				func(b *syntax.ItemBatcher) *syntax.Amount { return &b.Bytes }),
		),
		mayOneOf: [][]string{
			{"MaxItemsPerBatch", "MaxItemsPerBatchPath"},
			{"MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath"},
		},
		also: []func(*checker, *node, *syntax.ItemBatcher){checkBatchLimit},
	}
	resultWriterObject = &objectRule[syntax.ResultWriter]{
		name: "resultWriter", what: "a ResultWriter",
		fields: fields[syntax.ResultWriter]{
			"Resource":   at(func(w *syntax.ResultWriter) *syntax.Resource { return &w.Resource }).is(both, resourceRule{}),
			"Parameters": at(func(w *syntax.ResultWriter) *payload { return &w.Target }).is(inJSONPath, payloadRule{}),
			"Arguments":  at(func(w *syntax.ResultWriter) *payload { return &w.Target }).is(inJSONata, payloadRule{}),
			"WriterConfig": at(func(w *syntax.ResultWriter) **syntax.WriterConfig { return &w.Config }).is(both,
				writerConfigObject),
		},
		fresh: func() *syntax.ResultWriter { return &syntax.ResultWriter{Config: &syntax.WriterConfig{}} },
		also: []func(*checker, *node, *syntax.ResultWriter){func(c *checker, n *node, w *syntax.ResultWriter) {
			checkBucketAccess(c, n, &w.Resource, writers)
		}},
	}
	writerConfigObject = &objectRule[syntax.WriterConfig]{
		name: "writerConfig", what: "a WriterConfig",
		fields: fields[syntax.WriterConfig]{
			"Transformation": at(func(c *syntax.WriterConfig) *string { return &c.Transformation }).is(both,
				wordRule{"NONE", "COMPACT", "FLATTEN"}),
			"OutputType": at(func(c *syntax.WriterConfig) *string { return &c.OutputType }).is(both, wordRule{"JSON", "JSONL"}),
		},
	}
)

// knownFields are the names of all fields: in a wrong position they are errors, while unknown names are warnings.
var knownFields = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{"Variable": true}
	for _, f := range stateForms {
		know(known, f.fields)
	}
	know(known, machineObject.fields)
	know(known, processorObject.fields)
	know(known, processorConfigObject.fields)
	know(known, retrierObject.fields)
	know(known, catcherObject.fields)
	know(known, choiceRuleObject.fields)
	know(known, expression.Operators)
	return known
})

func know[V any](known map[string]bool, names map[string]V) {
	for name := range names {
		known[name] = true
	}
}
