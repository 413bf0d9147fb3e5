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

// What the objects of the language look like.

// anyText is a field that holds any text, for people.
func anyText[T any]() field[T] { return checked[T, string](syntax.Both, textRule{}) }

var (
	stateFields = fields[syntax.State]{
		"Type": checked[syntax.State, string](syntax.Both, typeRule{}), "Comment": anyText[syntax.State](), "QueryLanguage": checked[syntax.State, string](syntax.Both, languageRule{}),
	}
	nextFields = fields[syntax.State]{
		"Next": at(func(s *syntax.State) **syntax.State { return &s.Out.Next }).is(syntax.Both, targetRule{}),
		"End":  at(func(s *syntax.State) *bool { return &s.Ends }).is(syntax.Both, boolRule{}),
	}
	dataFields = fields[syntax.State]{
		"InputPath":  at(func(s *syntax.State) *expression.DataPath { return &s.InputPath }).is(syntax.JSONPath, dataPathRule{}),
		"OutputPath": at(func(s *syntax.State) *expression.DataPath { return &s.Out.OutputPath }).is(syntax.JSONPath, dataPathRule{}),
		"Output":     at(func(s *syntax.State) *expression.Payload { return &s.Out.Output }).is(syntax.JSONata, payloadRule{}),
	}
	assignFields   = fields[syntax.State]{"Assign": at(func(s *syntax.State) *[]syntax.Variable { return &s.Out.Assign }).is(syntax.Both, assignRule{})}
	parameterField = fields[syntax.State]{"Parameters": at(argumentsOf).is(syntax.JSONPath, payloadRule{})}
	argumentField  = fields[syntax.State]{"Arguments": at(argumentsOf).is(syntax.JSONata, payloadRule{})}
	resultFields   = fields[syntax.State]{"ResultPath": at(func(s *syntax.State) *expression.DataPath { return &s.Out.ResultPath }).is(syntax.JSONPath, dataPathRule{result: true})}
	selectorField  = fields[syntax.State]{"ResultSelector": at(func(s *syntax.State) *expression.Payload { return &s.Out.Selector }).is(syntax.JSONPath, payloadRule{})}
	errorFields    = fields[syntax.State]{
		"Retry": at(func(s *syntax.State) *[]*syntax.Retrier { return &s.Retry }).is(syntax.Both, listRule[*syntax.Retrier]{of: retrierObject}),
		"Catch": at(func(s *syntax.State) *[]*syntax.Catcher { return &s.Catch }).is(syntax.Both, listRule[*syntax.Catcher]{of: catcherObject}),
	}
)

func argumentsOf(s *syntax.State) *expression.Payload { return &s.Arguments }

// amountFields are a number, and the path to it.
func amountFields[T any](name string, is valueRule[syntax.Amount], of func(*T) *syntax.Amount) fields[T] {
	path := func(c *checker, n *node, into *T) {
		a := of(into)
		a.Said, a.Path, a.Field = true, referenceRule.read(c, n), n.Key
	}
	return fields[T]{name: at(of).is(syntax.Both, is), name + "Path": {syntax.JSONPath, referenceRule, path}}
}

var (
	levelFields = fields[syntax.Level]{
		"Comment": anyText[syntax.Level](), "States": checked[syntax.Level, struct{}](syntax.Both, statesRule{}),
		"StartAt": at(func(l *syntax.Level) **syntax.State { return &l.Start }).is(syntax.Both, targetRule{}),
	}
	levelNeeds  = []string{"States", "StartAt"}
	levelChecks = []func(*checker, *node, *syntax.Level){checkLevel}

	machineObject = &objectRule[syntax.Level]{
		name: "machine", what: "a state machine",
		fields: fields[syntax.Level]{
			"QueryLanguage": checked[syntax.Level, string](syntax.Both, languageRule{}), "Version": checked[syntax.Level, string](syntax.Both, wordRule{"1.0"}),
			"TimeoutSeconds": at(func(l *syntax.Level) *time.Duration { return &l.Timeout }).is(syntax.Both, durationRule{secondsRule}),
		}.with(levelFields),
		required: levelNeeds,
		also:     levelChecks,
	}
	branchObject    = &objectRule[syntax.Level]{name: "branch", what: "a branch", fields: levelFields, required: levelNeeds, also: levelChecks}
	processorObject = &objectRule[syntax.Level]{
		name: "processor", what: "an ItemProcessor",
		fields: fields[syntax.Level]{"ProcessorConfig": checked[syntax.Level, *struct{}](syntax.Both, processorConfigObject)}.with(levelFields), required: levelNeeds, also: levelChecks,
	}
	processorConfigObject = &objectRule[struct{}]{
		name: "processorConfig", what: "a ProcessorConfig",
		fields: fields[struct{}]{
			"Mode":          checked[struct{}, string](syntax.Both, wordRule{"INLINE", "DISTRIBUTED"}),
			"ExecutionType": checked[struct{}, string](syntax.Both, wordRule{"STANDARD", "EXPRESS"}),
		},
	}
)

// stateForms are the states, by their types.
var stateForms = [...]*objectRule[syntax.State]{
	syntax.PassState: {
		name: "Pass", what: "a Pass state",
		fields: fields[syntax.State]{"Result": at(func(s *syntax.State) **data.Value { return &s.Result }).is(syntax.JSONPath, resultRule{})}.
			with(stateFields, nextFields, dataFields, assignFields, parameterField, resultFields),
		goesOn: true,
	},
	syntax.TaskState: {
		name: "Task", what: "a Task state",
		fields: fields[syntax.State]{
			"Resource":    at(func(s *syntax.State) *syntax.Resource { return &s.Task.Resource }).is(syntax.Both, resourceRule{}),
			"Credentials": at(func(s *syntax.State) *expression.Payload { return &s.Task.Credentials }).is(syntax.Both, credentialsRule{}),
			"Revert":      at(func(s *syntax.State) **syntax.Revert { return &s.Revert }).is(syntax.Both, revertRule{}),
		}.with(
			amountFields("TimeoutSeconds", amountRule{secondsRule}, func(s *syntax.State) *syntax.Amount { return &s.Task.Timeout }),
			amountFields("HeartbeatSeconds", amountRule{secondsRule}, func(s *syntax.State) *syntax.Amount { return &s.Task.Heartbeat }),
			stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField, errorFields,
		),
		required: []string{"Resource"},
		mayOneOf: [][]string{{"TimeoutSeconds", "TimeoutSecondsPath"}, {"HeartbeatSeconds", "HeartbeatSecondsPath"}},
		goesOn:   true,
		also:     []func(*checker, *node, *syntax.State){checkTask, checkUnused},
	},
	syntax.ChoiceState: {
		name: "Choice", what: "a Choice state",
		fields: fields[syntax.State]{
			"Choices": at(func(s *syntax.State) *[]*syntax.Rule { return &s.Choices }).is(syntax.Both, listRule[*syntax.Rule]{of: choiceRule{}, least: 1}),
			"Default": nextFields["Next"],
		}.with(stateFields, dataFields, assignFields),
		required: []string{"Choices"},
		also:     []func(*checker, *node, *syntax.State){outputPathOfRules},
	},
	syntax.WaitState: {
		name: "Wait", what: "a Wait state",
		fields: fields[syntax.State]{
			"Timestamp":     at(timestampOf).is(syntax.Both, timestampRule{}),
			"TimestampPath": at(timestampOf).is(syntax.JSONPath, timestampPathRule{referenceRule}),
		}.with(
			amountFields("Seconds", amountRule{wholeRule{0, syntax.MaxSeconds}}, func(s *syntax.State) *syntax.Amount { return &s.Wait.Seconds }),
			stateFields, nextFields, dataFields, assignFields,
		),
		oneOf:  [][]string{{"Seconds", "SecondsPath", "Timestamp", "TimestampPath"}},
		goesOn: true,
	},
	syntax.SucceedState: {name: "Succeed", what: "a Succeed state", fields: stateFields.with(dataFields)},
	syntax.FailState: {
		name: "Fail", what: "a Fail state",
		fields: fields[syntax.State]{
			"Error": at(errorOf).is(syntax.Both, messageRule{}), "ErrorPath": at(errorOf).is(syntax.JSONPath, messagePathRule{}),
			"Cause": at(causeOf).is(syntax.Both, messageRule{}), "CausePath": at(causeOf).is(syntax.JSONPath, messagePathRule{}),
		}.with(stateFields),
		mayOneOf: [][]string{{"Error", "ErrorPath"}, {"Cause", "CausePath"}},
		also:     []func(*checker, *node, *syntax.State){checkErrorAndCause},
	},
	syntax.ParallelState: {
		name: "Parallel", what: "a Parallel state",
		fields: fields[syntax.State]{"Branches": at(func(s *syntax.State) *[]*syntax.Level { return &s.Branches }).is(syntax.Both, listRule[*syntax.Level]{of: levelRule{branchObject}, least: 1})}.
			with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField, errorFields),
		required: []string{"Branches"},
		goesOn:   true,
		also:     []func(*checker, *node, *syntax.State){checkUnused},
	},
	syntax.MapState: {
		name: "Map", what: "a Map state",
		fields: fields[syntax.State]{
			"ItemProcessor": at(processorIn).is(syntax.Both, processorRule{}), "Iterator": at(processorIn).is(syntax.Both, processorRule{}),
			"Items":        at(func(s *syntax.State) **syntax.Items { return &s.Items.Items }).is(syntax.JSONata, itemsRule{}),
			"ItemsPath":    at(func(s *syntax.State) **jsonpath.Path { return &s.Items.Path }).is(syntax.JSONPath, referenceRule),
			"ItemSelector": at(func(s *syntax.State) *expression.Payload { return &s.Items.Selector }).is(syntax.Both, payloadRule{}),
			"ItemReader":   at(func(s *syntax.State) **syntax.ItemReader { return &s.Items.Distributed.Reader }).is(syntax.Both, itemReaderObject),
			"ItemBatcher":  at(func(s *syntax.State) **syntax.ItemBatcher { return &s.Items.Distributed.Batcher }).is(syntax.Both, itemBatcherObject),
			"ResultWriter": at(func(s *syntax.State) **syntax.ResultWriter { return &s.Items.Distributed.Writer }).is(syntax.Both, resultWriterObject),
			"Label":        at(func(s *syntax.State) *string { return &s.Items.Distributed.Label }).is(syntax.Both, labelRule{}),
		}.with(
			amountFields("MaxConcurrency", amountRule{wholeRule{0, syntax.MaxSeconds}}, func(s *syntax.State) *syntax.Amount { return &s.Items.Concurrency }),
			amountFields("ToleratedFailureCount", amountRule{wholeRule{0, syntax.MaxSeconds}}, func(s *syntax.State) *syntax.Amount { return &s.Items.Count }),
			amountFields("ToleratedFailurePercentage", percentageRule{numberRule{0, 100}}, func(s *syntax.State) *syntax.Amount { return &s.Items.Percentage }),
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
		also:   []func(*checker, *node, *syntax.State){checkDistributed, checkUnused},
	},
}

func timestampOf(s *syntax.State) *syntax.Timestamp { return &s.Wait.Timestamp }

func errorOf(s *syntax.State) *syntax.Message { return &s.Failure.Err }

func causeOf(s *syntax.State) *syntax.Message { return &s.Failure.Cause }

func processorIn(s *syntax.State) **syntax.Level { return &s.Items.Processor }

// What belongs to states.
var (
	retrierObject = &objectRule[syntax.Retrier]{
		name: "retrier", what: "a retrier",
		fields: fields[syntax.Retrier]{
			"ErrorEquals":     at(func(r *syntax.Retrier) *[]string { return &r.Errors }).is(syntax.Both, errorsRule{}),
			"IntervalSeconds": at(func(r *syntax.Retrier) *time.Duration { return &r.Interval }).is(syntax.Both, durationRule{secondsRule}),
			"MaxAttempts":     at(func(r *syntax.Retrier) *int64 { return &r.Attempts }).is(syntax.Both, wholeRule{0, syntax.MaxSeconds}),
			"BackoffRate":     at(func(r *syntax.Retrier) *float64 { return &r.Rate }).is(syntax.Both, numberRule{1, math.MaxFloat64}),
			"MaxDelaySeconds": at(func(r *syntax.Retrier) *time.Duration { return &r.Most }).is(syntax.Both, durationRule{wholeRule{1, maxDelay}}),
			"JitterStrategy":  at(func(r *syntax.Retrier) *string { return &r.Jitter }).is(syntax.Both, wordRule{"FULL", "NONE"}),
			"Comment":         anyText[syntax.Retrier](),
		},
		required: []string{"ErrorEquals"},
		fresh:    func() *syntax.Retrier { return &syntax.Retrier{Interval: time.Second, Attempts: 3, Rate: 2} },
		also:     []func(*checker, *node, *syntax.Retrier){checkMaxDelay},
	}
	catcherObject = &objectRule[syntax.Catcher]{
		name: "catcher", what: "a catcher",
		fields: fields[syntax.Catcher]{
			"ErrorEquals": at(func(k *syntax.Catcher) *[]string { return &k.Errors }).is(syntax.Both, errorsRule{}),
			"Next":        at(func(k *syntax.Catcher) **syntax.State { return &k.Out.Next }).is(syntax.Both, targetRule{}),
			"Revert":      at(func(k *syntax.Catcher) **syntax.Compensation { return &k.Revert }).is(syntax.Both, catchRevertRule{}),
			"ResultPath":  at(func(k *syntax.Catcher) *expression.DataPath { return &k.Out.ResultPath }).is(syntax.JSONPath, dataPathRule{result: true}),
			"Assign":      at(func(k *syntax.Catcher) *[]syntax.Variable { return &k.Out.Assign }).is(syntax.Both, assignRule{}),
			"Output":      at(func(k *syntax.Catcher) *expression.Payload { return &k.Out.Output }).is(syntax.JSONata, payloadRule{}),
			"Comment":     anyText[syntax.Catcher](),
		},
		required: []string{"ErrorEquals", "Next"},
		fresh:    func() *syntax.Catcher { return &syntax.Catcher{Out: syntax.Transition{As: "errorOutput"}} },
	}
	catchRevertObject = &objectRule[syntax.Compensation]{
		name: "catchRevert", what: "the Revert of a catcher",
		fields: fields[syntax.Compensation]{"To": at(func(c *syntax.Compensation) **syntax.State { return &c.To }).is(syntax.Both, targetRule{})}, required: []string{"To"},
	}
	// choiceRuleObject is a rule of a Choice state in JSONata. In JSONPath it is a
	// condition with these fields beside it.
	choiceRuleObject = &objectRule[syntax.Rule]{
		name: "rule", what: "a rule",
		fields: fields[syntax.Rule]{
			"Condition": at(func(r *syntax.Rule) *expression.Test { return &r.Test }).is(syntax.JSONata, conditionRule{}),
			"Next":      at(func(r *syntax.Rule) **syntax.State { return &r.Out.Next }).is(syntax.Both, targetRule{}),
			"Assign":    at(func(r *syntax.Rule) *[]syntax.Variable { return &r.Out.Assign }).is(syntax.Both, assignRule{}),
			"Output":    at(func(r *syntax.Rule) *expression.Payload { return &r.Out.Output }).is(syntax.JSONata, payloadRule{}),
			"Comment":   anyText[syntax.Rule](),
		},
		required: []string{"Condition", "Next"},
	}
	revertObject = &objectRule[syntax.Revert]{
		name: "revert", what: "a Revert",
		fields: fields[syntax.Revert]{
			"Resource":   at(func(r *syntax.Revert) *syntax.Resource { return &r.Resource }).is(syntax.Both, resourceRule{}),
			"Parameters": at(func(r *syntax.Revert) *expression.Payload { return &r.Arguments }).is(syntax.JSONPath, payloadRule{}),
			"Arguments":  at(func(r *syntax.Revert) *expression.Payload { return &r.Arguments }).is(syntax.JSONata, payloadRule{}),
			"Retry":      at(func(r *syntax.Revert) *[]*syntax.Retrier { return &r.Retry }).is(syntax.Both, listRule[*syntax.Retrier]{of: retrierObject}),
		},
		required: []string{"Resource"},
		also:     []func(*checker, *node, *syntax.Revert){checkRevertRetry},
	}
)

// What belongs to distributed Map states.
var (
	itemReaderObject = &objectRule[syntax.ItemReader]{
		name: "itemReader", what: "an ItemReader",
		fields: fields[syntax.ItemReader]{
			"Resource":     at(func(r *syntax.ItemReader) *syntax.Resource { return &r.Resource }).is(syntax.Both, resourceRule{}),
			"Parameters":   at(func(r *syntax.ItemReader) *expression.Payload { return &r.From }).is(syntax.JSONPath, payloadRule{}),
			"Arguments":    at(func(r *syntax.ItemReader) *expression.Payload { return &r.From }).is(syntax.JSONata, payloadRule{}),
			"ReaderConfig": at(func(r *syntax.ItemReader) **syntax.ItemReaderConfig { return &r.Config }).is(syntax.Both, readerConfigObject),
		},
		required: []string{"Resource"},
		fresh:    func() *syntax.ItemReader { return &syntax.ItemReader{Config: &syntax.ItemReaderConfig{}} },
	}
	readerConfigObject = &objectRule[syntax.ItemReaderConfig]{
		name: "readerConfig", what: "a ReaderConfig",
		fields: fields[syntax.ItemReaderConfig]{
			"InputType":         at(func(c *syntax.ItemReaderConfig) *string { return &c.InputType }).is(syntax.Both, wordRule{"CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"}),
			"CSVHeaderLocation": at(func(c *syntax.ItemReaderConfig) *string { return &c.CSVHeaderLocation }).is(syntax.Both, wordRule{"FIRST_ROW", "GIVEN"}),
			"CSVHeaders":        at(func(c *syntax.ItemReaderConfig) *[]string { return &c.CSVHeaders }).is(syntax.Both, listRule[string]{of: textRule{}}),
			"CSVDelimiter":      at(func(c *syntax.ItemReaderConfig) *string { return &c.CSVDelimiter }).is(syntax.Both, wordRule{"COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"}),
			"ItemsPointer":      at(func(c *syntax.ItemReaderConfig) *string { return &c.ItemsPointer }).is(syntax.Both, textRule{}),
			"ManifestType":      at(func(c *syntax.ItemReaderConfig) *string { return &c.ManifestType }).is(syntax.Both, wordRule{"ATHENA_DATA", "S3_INVENTORY"}),
			"Transformation":    at(func(c *syntax.ItemReaderConfig) *string { return &c.Transformation }).is(syntax.Both, wordRule{"NONE", "LOAD_AND_FLATTEN"}),
		}.with(amountFields("MaxItems", amountRule{wholeRule{0, syntax.MaxItems}}, func(c *syntax.ItemReaderConfig) *syntax.Amount { return &c.MaxItems })),
		mayOneOf: [][]string{{"MaxItems", "MaxItemsPath"}},
		also:     []func(*checker, *node, *syntax.ItemReaderConfig){checkHeaders},
	}
	itemBatcherObject = &objectRule[syntax.ItemBatcher]{
		name: "itemBatcher", what: "an ItemBatcher",
		fields: fields[syntax.ItemBatcher]{"BatchInput": at(func(b *syntax.ItemBatcher) *expression.Payload { return &b.Input }).is(syntax.Both, payloadRule{})}.with(
			amountFields("MaxItemsPerBatch", amountRule{secondsRule}, func(b *syntax.ItemBatcher) *syntax.Amount { return &b.Items }),
			amountFields("MaxInputBytesPerBatch", amountRule{wholeRule{1, data.MaxPayload}}, func(b *syntax.ItemBatcher) *syntax.Amount { return &b.Bytes }),
		),
		mayOneOf: [][]string{{"MaxItemsPerBatch", "MaxItemsPerBatchPath"}, {"MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath"}},
		also:     []func(*checker, *node, *syntax.ItemBatcher){checkBatchLimit},
	}
	resultWriterObject = &objectRule[syntax.ResultWriter]{
		name: "resultWriter", what: "a ResultWriter",
		fields: fields[syntax.ResultWriter]{
			"Resource":     at(func(w *syntax.ResultWriter) *syntax.Resource { return &w.Resource }).is(syntax.Both, resourceRule{}),
			"Parameters":   at(func(w *syntax.ResultWriter) *expression.Payload { return &w.Target }).is(syntax.JSONPath, payloadRule{}),
			"Arguments":    at(func(w *syntax.ResultWriter) *expression.Payload { return &w.Target }).is(syntax.JSONata, payloadRule{}),
			"WriterConfig": at(func(w *syntax.ResultWriter) **syntax.WriterConfig { return &w.Config }).is(syntax.Both, writerConfigObject),
		},
		fresh: func() *syntax.ResultWriter { return &syntax.ResultWriter{Config: &syntax.WriterConfig{}} },
	}
	writerConfigObject = &objectRule[syntax.WriterConfig]{
		name: "writerConfig", what: "a WriterConfig",
		fields: fields[syntax.WriterConfig]{
			"Transformation": at(func(c *syntax.WriterConfig) *string { return &c.Transformation }).is(syntax.Both, wordRule{"NONE", "COMPACT", "FLATTEN"}),
			"OutputType":     at(func(c *syntax.WriterConfig) *string { return &c.OutputType }).is(syntax.Both, wordRule{"JSON", "JSONL"}),
		},
	}
)

// knownFields are the names that mean something somewhere: out of place they are
// errors, while unknown ones are merely warned of.
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
