package asl

import (
	"math"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

// What the objects of the language look like.

// anyText is a field that holds any text, for people.
func anyText[T any]() field[T] { return checked[T, string](both, textRule{}) }

var (
	stateFields = fields[state]{
		"Type": checked[state, string](both, typeRule{}), "Comment": anyText[state](), "QueryLanguage": checked[state, string](both, languageRule{}),
	}
	nextFields = fields[state]{
		"Next": at(func(s *state) **state { return &s.out.next }).is(both, targetRule{}),
		"End":  at(func(s *state) *bool { return &s.ends }).is(both, boolRule{}),
	}
	dataFields = fields[state]{
		"InputPath":  at(func(s *state) *dataPath { return &s.inputPath }).is(inJSONPath, dataPathRule{}),
		"OutputPath": at(func(s *state) *dataPath { return &s.out.outputPath }).is(inJSONPath, dataPathRule{}),
		"Output":     at(func(s *state) *payload { return &s.out.output }).is(inJSONata, payloadRule{}),
	}
	assignFields   = fields[state]{"Assign": at(func(s *state) *[]variable { return &s.out.assign }).is(both, assignRule{})}
	parameterField = fields[state]{"Parameters": at(argumentsOf).is(inJSONPath, payloadRule{})}
	argumentField  = fields[state]{"Arguments": at(argumentsOf).is(inJSONata, payloadRule{})}
	resultFields   = fields[state]{"ResultPath": at(func(s *state) *dataPath { return &s.out.resultPath }).is(inJSONPath, dataPathRule{result: true})}
	selectorField  = fields[state]{"ResultSelector": at(func(s *state) *payload { return &s.out.selector }).is(inJSONPath, payloadRule{})}
	errorFields    = fields[state]{
		"Retry": at(func(s *state) *[]*retrier { return &s.retry }).is(both, listRule[*retrier]{of: retrierObject}),
		"Catch": at(func(s *state) *[]*catcher { return &s.catch }).is(both, listRule[*catcher]{of: catcherObject}),
	}
)

func argumentsOf(s *state) *payload { return &s.arguments }

// amountFields are a number, and the path to it.
func amountFields[T any](name string, is valueRule[amount], of func(*T) *amount) fields[T] {
	path := func(c *checker, n *node, into *T) {
		a := of(into)
		a.said, a.path, a.field = true, referenceRule.read(c, n), n.Key
	}
	return fields[T]{name: at(of).is(both, is), name + "Path": {inJSONPath, referenceRule, path}}
}

var (
	levelFields = fields[level]{
		"Comment": anyText[level](), "States": checked[level, struct{}](both, statesRule{}),
		"StartAt": at(func(l *level) **state { return &l.start }).is(both, targetRule{}),
	}
	levelNeeds  = []string{"States", "StartAt"}
	levelChecks = []func(*checker, *node, *level){checkLevel}

	machineObject = &objectRule[level]{
		name: "machine", what: "a state machine",
		fields: fields[level]{
			"QueryLanguage": checked[level, string](both, languageRule{}), "Version": checked[level, string](both, wordRule{"1.0"}),
			"TimeoutSeconds": at(func(l *level) *time.Duration { return &l.timeout }).is(both, durationRule{secondsRule}),
		}.with(levelFields),
		required: levelNeeds,
		also:     levelChecks,
	}
	branchObject    = &objectRule[level]{name: "branch", what: "a branch", fields: levelFields, required: levelNeeds, also: levelChecks}
	processorObject = &objectRule[level]{
		name: "processor", what: "an ItemProcessor",
		fields: fields[level]{"ProcessorConfig": checked[level, *struct{}](both, processorConfigObject)}.with(levelFields), required: levelNeeds, also: levelChecks,
	}
	processorConfigObject = &objectRule[struct{}]{
		name: "processorConfig", what: "a ProcessorConfig",
		fields: fields[struct{}]{
			"Mode":          checked[struct{}, string](both, wordRule{"INLINE", "DISTRIBUTED"}),
			"ExecutionType": checked[struct{}, string](both, wordRule{"STANDARD", "EXPRESS"}),
		},
	}
)

// stateForms are the states, by their types.
var stateForms = [...]*objectRule[state]{
	passState: {
		name: "Pass", what: "a Pass state",
		fields: fields[state]{"Result": at(func(s *state) **jsonValue { return &s.result }).is(inJSONPath, resultRule{})}.
			with(stateFields, nextFields, dataFields, assignFields, parameterField, resultFields),
		goesOn: true,
	},
	taskState: {
		name: "Task", what: "a Task state",
		fields: fields[state]{
			"Resource":    at(func(s *state) *resource { return &s.task.resource }).is(both, resourceRule{}),
			"Credentials": at(func(s *state) *payload { return &s.task.credentials }).is(both, credentialsRule{}),
			"Revert":      at(func(s *state) **revert { return &s.revert }).is(both, revertRule{}),
		}.with(
			amountFields("TimeoutSeconds", amountRule{secondsRule}, func(s *state) *amount { return &s.task.timeout }),
			amountFields("HeartbeatSeconds", amountRule{secondsRule}, func(s *state) *amount { return &s.task.heartbeat }),
			stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField, errorFields,
		),
		required: []string{"Resource"},
		mayOneOf: [][]string{{"TimeoutSeconds", "TimeoutSecondsPath"}, {"HeartbeatSeconds", "HeartbeatSecondsPath"}},
		goesOn:   true,
		also:     []func(*checker, *node, *state){checkTask, checkUnused},
	},
	choiceState: {
		name: "Choice", what: "a Choice state",
		fields: fields[state]{
			"Choices": at(func(s *state) *[]*rule { return &s.choices }).is(both, listRule[*rule]{of: choiceRule{}, least: 1}),
			"Default": nextFields["Next"],
		}.with(stateFields, dataFields, assignFields),
		required: []string{"Choices"},
		also:     []func(*checker, *node, *state){outputPathOfRules},
	},
	waitState: {
		name: "Wait", what: "a Wait state",
		fields: fields[state]{
			"Timestamp":     at(timestampOf).is(both, timestampRule{}),
			"TimestampPath": at(timestampOf).is(inJSONPath, timestampPathRule{referenceRule}),
		}.with(
			amountFields("Seconds", amountRule{wholeRule{0, maxSeconds}}, func(s *state) *amount { return &s.wait.seconds }),
			stateFields, nextFields, dataFields, assignFields,
		),
		oneOf:  [][]string{{"Seconds", "SecondsPath", "Timestamp", "TimestampPath"}},
		goesOn: true,
	},
	succeedState: {name: "Succeed", what: "a Succeed state", fields: stateFields.with(dataFields)},
	failState: {
		name: "Fail", what: "a Fail state",
		fields: fields[state]{
			"Error": at(errorOf).is(both, messageRule{}), "ErrorPath": at(errorOf).is(inJSONPath, messagePathRule{}),
			"Cause": at(causeOf).is(both, messageRule{}), "CausePath": at(causeOf).is(inJSONPath, messagePathRule{}),
		}.with(stateFields),
		mayOneOf: [][]string{{"Error", "ErrorPath"}, {"Cause", "CausePath"}},
		also:     []func(*checker, *node, *state){checkErrorAndCause},
	},
	parallelState: {
		name: "Parallel", what: "a Parallel state",
		fields: fields[state]{"Branches": at(func(s *state) *[]*level { return &s.branches }).is(both, listRule[*level]{of: levelRule{branchObject}, least: 1})}.
			with(stateFields, nextFields, dataFields, assignFields, parameterField, selectorField, resultFields, argumentField, errorFields),
		required: []string{"Branches"},
		goesOn:   true,
		also:     []func(*checker, *node, *state){checkUnused},
	},
	mapState: {
		name: "Map", what: "a Map state",
		fields: fields[state]{
			"ItemProcessor": at(processorIn).is(both, processorRule{}), "Iterator": at(processorIn).is(both, processorRule{}),
			"Items":        at(func(s *state) **listed { return &s.items.items }).is(inJSONata, itemsRule{}),
			"ItemsPath":    at(func(s *state) **jsonpath.Path { return &s.items.path }).is(inJSONPath, referenceRule),
			"ItemSelector": at(func(s *state) *payload { return &s.items.selector }).is(both, payloadRule{}),
			"ItemReader":   at(func(s *state) **itemReader { return &s.items.distributed.reader }).is(both, itemReaderObject),
			"ItemBatcher":  at(func(s *state) **itemBatcher { return &s.items.distributed.batcher }).is(both, itemBatcherObject),
			"ResultWriter": at(func(s *state) **resultWriter { return &s.items.distributed.writer }).is(both, resultWriterObject),
			"Label":        at(func(s *state) *string { return &s.items.distributed.label }).is(both, labelRule{}),
		}.with(
			amountFields("MaxConcurrency", amountRule{wholeRule{0, maxSeconds}}, func(s *state) *amount { return &s.items.concurrency }),
			amountFields("ToleratedFailureCount", amountRule{wholeRule{0, maxSeconds}}, func(s *state) *amount { return &s.items.count }),
			amountFields("ToleratedFailurePercentage", percentageRule{numberRule{0, 100}}, func(s *state) *amount { return &s.items.percentage }),
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

func timestampOf(s *state) *timestamp { return &s.wait.timestamp }
func errorOf(s *state) *message       { return &s.failure.err }
func causeOf(s *state) *message       { return &s.failure.cause }
func processorIn(s *state) **level    { return &s.items.processor }

// What belongs to states.
var (
	retrierObject = &objectRule[retrier]{
		name: "retrier", what: "a retrier",
		fields: fields[retrier]{
			"ErrorEquals":     at(func(r *retrier) *[]string { return &r.errors }).is(both, errorsRule{}),
			"IntervalSeconds": at(func(r *retrier) *time.Duration { return &r.interval }).is(both, durationRule{secondsRule}),
			"MaxAttempts":     at(func(r *retrier) *int64 { return &r.attempts }).is(both, wholeRule{0, maxSeconds}),
			"BackoffRate":     at(func(r *retrier) *float64 { return &r.rate }).is(both, numberRule{1, math.MaxFloat64}),
			"MaxDelaySeconds": at(func(r *retrier) *time.Duration { return &r.most }).is(both, durationRule{wholeRule{1, maxDelay}}),
			"JitterStrategy":  at(func(r *retrier) *string { return &r.jitter }).is(both, wordRule{"FULL", "NONE"}),
			"Comment":         anyText[retrier](),
		},
		required: []string{"ErrorEquals"},
		fresh:    func() *retrier { return &retrier{interval: time.Second, attempts: 3, rate: 2} },
		also:     []func(*checker, *node, *retrier){checkMaxDelay},
	}
	catcherObject = &objectRule[catcher]{
		name: "catcher", what: "a catcher",
		fields: fields[catcher]{
			"ErrorEquals": at(func(k *catcher) *[]string { return &k.errors }).is(both, errorsRule{}),
			"Next":        at(func(k *catcher) **state { return &k.out.next }).is(both, targetRule{}),
			"Revert":      at(func(k *catcher) **compensation { return &k.revert }).is(both, catchRevertRule{}),
			"ResultPath":  at(func(k *catcher) *dataPath { return &k.out.resultPath }).is(inJSONPath, dataPathRule{result: true}),
			"Assign":      at(func(k *catcher) *[]variable { return &k.out.assign }).is(both, assignRule{}),
			"Output":      at(func(k *catcher) *payload { return &k.out.output }).is(inJSONata, payloadRule{}),
			"Comment":     anyText[catcher](),
		},
		required: []string{"ErrorEquals", "Next"},
		fresh:    func() *catcher { return &catcher{out: transition{as: "errorOutput"}} },
	}
	catchRevertObject = &objectRule[compensation]{
		name: "catchRevert", what: "the Revert of a catcher",
		fields: fields[compensation]{"To": at(func(c *compensation) **state { return &c.to }).is(both, targetRule{})}, required: []string{"To"},
	}
	// choiceRuleObject is a rule of a Choice state in JSONata. In JSONPath it is a
	// condition with these fields beside it.
	choiceRuleObject = &objectRule[rule]{
		name: "rule", what: "a rule",
		fields: fields[rule]{
			"Condition": at(func(r *rule) *test { return &r.test }).is(inJSONata, conditionRule{}),
			"Next":      at(func(r *rule) **state { return &r.out.next }).is(both, targetRule{}),
			"Assign":    at(func(r *rule) *[]variable { return &r.out.assign }).is(both, assignRule{}),
			"Output":    at(func(r *rule) *payload { return &r.out.output }).is(inJSONata, payloadRule{}),
			"Comment":   anyText[rule](),
		},
		required: []string{"Condition", "Next"},
	}
	revertObject = &objectRule[revert]{
		name: "revert", what: "a Revert",
		fields: fields[revert]{
			"Resource":   at(func(r *revert) *resource { return &r.resource }).is(both, resourceRule{}),
			"Parameters": at(func(r *revert) *payload { return &r.arguments }).is(inJSONPath, payloadRule{}),
			"Arguments":  at(func(r *revert) *payload { return &r.arguments }).is(inJSONata, payloadRule{}),
			"Retry":      at(func(r *revert) *[]*retrier { return &r.retry }).is(both, listRule[*retrier]{of: retrierObject}),
		},
		required: []string{"Resource"},
		also:     []func(*checker, *node, *revert){checkRevertRetry},
	}
)

// What belongs to distributed Map states.
var (
	itemReaderObject = &objectRule[itemReader]{
		name: "itemReader", what: "an ItemReader",
		fields: fields[itemReader]{
			"Resource":     at(func(r *itemReader) *resource { return &r.resource }).is(both, resourceRule{}),
			"Parameters":   at(func(r *itemReader) *payload { return &r.from }).is(inJSONPath, payloadRule{}),
			"Arguments":    at(func(r *itemReader) *payload { return &r.from }).is(inJSONata, payloadRule{}),
			"ReaderConfig": at(func(r *itemReader) **readerConfig { return &r.config }).is(both, readerConfigObject),
		},
		required: []string{"Resource"},
		fresh:    func() *itemReader { return &itemReader{config: &readerConfig{}} },
	}
	readerConfigObject = &objectRule[readerConfig]{
		name: "readerConfig", what: "a ReaderConfig",
		fields: fields[readerConfig]{
			"InputType":         at(func(c *readerConfig) *string { return &c.InputType }).is(both, wordRule{"CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"}),
			"CSVHeaderLocation": at(func(c *readerConfig) *string { return &c.CSVHeaderLocation }).is(both, wordRule{"FIRST_ROW", "GIVEN"}),
			"CSVHeaders":        at(func(c *readerConfig) *[]string { return &c.CSVHeaders }).is(both, listRule[string]{of: textRule{}}),
			"CSVDelimiter":      at(func(c *readerConfig) *string { return &c.CSVDelimiter }).is(both, wordRule{"COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"}),
			"ItemsPointer":      at(func(c *readerConfig) *string { return &c.ItemsPointer }).is(both, textRule{}),
			"ManifestType":      at(func(c *readerConfig) *string { return &c.ManifestType }).is(both, wordRule{"ATHENA_DATA", "S3_INVENTORY"}),
			"Transformation":    at(func(c *readerConfig) *string { return &c.Transformation }).is(both, wordRule{"NONE", "LOAD_AND_FLATTEN"}),
		}.with(amountFields("MaxItems", amountRule{wholeRule{0, maxItems}}, func(c *readerConfig) *amount { return &c.maxItems })),
		mayOneOf: [][]string{{"MaxItems", "MaxItemsPath"}},
		also:     []func(*checker, *node, *readerConfig){checkHeaders},
	}
	itemBatcherObject = &objectRule[itemBatcher]{
		name: "itemBatcher", what: "an ItemBatcher",
		fields: fields[itemBatcher]{"BatchInput": at(func(b *itemBatcher) *payload { return &b.input }).is(both, payloadRule{})}.with(
			amountFields("MaxItemsPerBatch", amountRule{secondsRule}, func(b *itemBatcher) *amount { return &b.items }),
			amountFields("MaxInputBytesPerBatch", amountRule{wholeRule{1, MaxPayload}}, func(b *itemBatcher) *amount { return &b.bytes }),
		),
		mayOneOf: [][]string{{"MaxItemsPerBatch", "MaxItemsPerBatchPath"}, {"MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath"}},
		also:     []func(*checker, *node, *itemBatcher){checkBatchLimit},
	}
	resultWriterObject = &objectRule[resultWriter]{
		name: "resultWriter", what: "a ResultWriter",
		fields: fields[resultWriter]{
			"Resource":     at(func(w *resultWriter) *resource { return &w.resource }).is(both, resourceRule{}),
			"Parameters":   at(func(w *resultWriter) *payload { return &w.target }).is(inJSONPath, payloadRule{}),
			"Arguments":    at(func(w *resultWriter) *payload { return &w.target }).is(inJSONata, payloadRule{}),
			"WriterConfig": at(func(w *resultWriter) **writerConfig { return &w.config }).is(both, writerConfigObject),
		},
		fresh: func() *resultWriter { return &resultWriter{config: &writerConfig{}} },
	}
	writerConfigObject = &objectRule[writerConfig]{
		name: "writerConfig", what: "a WriterConfig",
		fields: fields[writerConfig]{
			"Transformation": at(func(c *writerConfig) *string { return &c.transformation }).is(both, wordRule{"NONE", "COMPACT", "FLATTEN"}),
			"OutputType":     at(func(c *writerConfig) *string { return &c.outputType }).is(both, wordRule{"JSON", "JSONL"}),
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
	know(known, operators)
	return known
})

func know[V any](known map[string]bool, names map[string]V) {
	for name := range names {
		known[name] = true
	}
}
