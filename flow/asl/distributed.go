package asl

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// distributed is what only a distributed Map state has: its items run as
// executions of their own.
type distributed struct {
	label   string // Label, or a name of AWS's kind
	named   bool   // there is a Label
	express bool

	reader  *itemReader   // nil: the items are in the state's input
	batcher *itemBatcher  // nil: each item is a child's input
	writer  *resultWriter // nil: the results are the state's result
}

// An itemReader says where items are read.
type itemReader struct {
	resource resource
	from     payload // Parameters or Arguments
	config   *readerConfig
}

type readerConfig struct {
	ReaderConfig

	maxItems amount
}

// An itemBatcher says how many items a child is given.
type itemBatcher struct {
	items amount
	bytes amount
	input payload
}

// A resultWriter says where results are written, and how. Without a resource they
// are handed on, in the form that it says.
type resultWriter struct {
	resource resource
	target   payload // Parameters or Arguments
	config   *writerConfig
}

type writerConfig struct{ transformation, outputType string }

// form returns how results are written or handed on.
func (w *resultWriter) form() resultObject {
	if w == nil {
		return resultObject{}
	}
	return resultObject{Transformation: w.config.transformation, Lines: w.config.outputType == "JSONL"}
}

// resultObject is how results are written or handed on.
type resultObject struct {
	Transformation string `json:"transformation,omitempty"` // NONE, COMPACT or FLATTEN; "" is as if there were no WriterConfig
	Lines          bool   `json:"lines,omitempty"`          // OutputType is JSONL
}

// mapSettings is all that a map run goes by, found when its state is begun.
type mapSettings struct {
	ID         string          `json:"id"`                   // unique among all map runs
	ARN        string          `json:"arn"`                  // of the map run
	Slots      int             `json:"slots"`                // how many children at once
	Count      int64           `json:"count,omitempty"`      // how many items may fail
	Percentage float64         `json:"percentage,omitempty"` // and how many of a hundred
	Reader     *ItemQuery      `json:"reader,omitempty"`     // nil: the items are in the state's input
	MaxItems   int64           `json:"maxItems,omitempty"`   // 0: all
	Batches    bool            `json:"batches,omitempty"`
	PerBatch   int64           `json:"perBatch,omitempty"`   // items; 0: as many as fit
	BatchBytes int64           `json:"batchBytes,omitempty"` // of a child's input
	BatchInput json.RawMessage `json:"batchInput,omitempty"`
	Target     *resultTarget   `json:"target,omitempty"` // nil: the results are the state's result
	Form       resultObject    `json:"form,omitzero"`
}

// resultTarget is where a ResultWriter writes.
type resultTarget struct {
	Bucket string `json:"bucket"`
	Prefix string `json:"prefix,omitempty"`
}

const (
	// maxChildren is how many executions a distributed Map has at once without a
	// MaxConcurrency. One of its own may be larger, up to AWS's most.
	maxChildren         = 1000
	maxConcurrentOnAWS  = 10_000
	maxItemsPerBatchAny = math.MaxInt32
)

// distribute finds what a map run goes by. The history is told that the state has
// started between what AWS evaluates before that and after it.
func (w *interpreter) distribute(told *shared) *stateError {
	d := w.state.items.distributed
	v, f := w.seen()
	if f != nil {
		return f
	}
	told.input = v.input
	m := &mapSettings{Form: d.writer.form()}
	slots, f := w.amount(&w.state.items.concurrency, 0, maxSeconds)
	if f != nil {
		return f
	}
	if m.Slots = int(min(slots, maxConcurrentOnAWS)); slots == 0 {
		m.Slots = maxChildren
	}
	length := 0
	if d.reader == nil {
		if told.items, f = w.items(v); f != nil {
			return f
		}
		if length, f = w.lengthOf(told.items); f != nil {
			return f
		}
	}
	w.mapStarted(length)
	if f := w.tolerance(m); f != nil {
		return f
	}
	if f := w.sources(m); f != nil {
		return f
	}
	m.ID = uuidOf(w.random(), w.random(), 4)
	m.ARN = w.mapRunARN(m.ID)
	told.run = m
	return nil
}

// mapStarted tells the history that a Map state has started.
func (w *interpreter) mapStarted(length int) {
	details := newDetails()
	details.Number("length", int64(length))
	w.event("MapStateStarted", ended(details))
}

// lengthOf returns how many items there are: elements of an array, or members of an
// object.
func (w *interpreter) lengthOf(items *jsonValue) (int, *stateError) {
	tree, f := items.look()
	if f != nil {
		return 0, f
	}
	switch tree := tree.(type) {
	case []any:
		return len(tree), nil
	case *jsontext.OrderedMap:
		if w.state.items.items != nil {
			return tree.Len(), nil
		}
	}
	return 0, w.noArray(items)
}

// tolerance finds how many items may fail.
func (w *interpreter) tolerance(m *mapSettings) (f *stateError) {
	items := w.state.items
	if m.Count, f = w.amount(&items.count, math.MinInt64, math.MaxInt64); f != nil {
		return f
	}
	if m.Count < 0 {
		return runtimeError("ToleratedFailureCount cannot be negative.")
	}
	if m.Percentage, f = w.fraction(&items.percentage); f != nil {
		return f
	}
	if m.Percentage < 0 || m.Percentage > 100 {
		return runtimeError("ToleratedFailurePercentage must be between 0 and 100.")
	}
	return nil
}

// sources finds where items come from, how they are put together, and where results
// go.
func (w *interpreter) sources(m *mapSettings) *stateError {
	d := w.state.items.distributed
	v, f := w.seen()
	if f != nil {
		return f
	}
	if d.reader != nil {
		if m.MaxItems, f = w.amount(&d.reader.config.maxItems, math.MinInt64, math.MaxInt64); f != nil {
			return f
		}
		m.Reader = &ItemQuery{Resource: d.reader.resource.uri, ReaderConfig: d.reader.config.ReaderConfig}
		if m.Reader.Parameters, f = rawOf(d.reader.from, v); f != nil {
			return f
		}
	}
	if m.Batches = d.batcher != nil; m.Batches {
		if m.PerBatch, f = w.amount(&d.batcher.items, 0, maxItemsPerBatchAny); f != nil {
			return f
		}
		if m.BatchBytes, f = w.amount(&d.batcher.bytes, 0, math.MaxInt64); f != nil {
			return f
		}
		if m.BatchInput, f = rawOf(d.batcher.input, v); f != nil {
			return f
		}
	}
	if d.writer != nil && d.writer.resource.uri != "" {
		return w.target(m, v)
	}
	return nil
}

// rawOf returns what a payload gives, nil when there is none.
func rawOf(p payload, v *view) (json.RawMessage, *stateError) {
	if p == nil {
		return nil, nil
	}
	value, f := p.of(v)
	if f != nil {
		return nil, f
	}
	if value.tooLarge() {
		return nil, limitError(v.walk.state.name)
	}
	return value.encoded().JSON(), nil
}

// target finds where results are written.
func (w *interpreter) target(m *mapSettings, v *view) *stateError {
	raw, f := rawOf(w.state.items.distributed.writer.target, v)
	if f != nil {
		return f
	}
	var told struct {
		Bucket string `json:"Bucket"` //nolint:tagliatelle // AWS's name
		Prefix string `json:"Prefix"` //nolint:tagliatelle // AWS's name
	}
	if err := json.Unmarshal(raw, &told); err != nil || told.Bucket == "" {
		return runtimeError("the ResultWriter must be given a Bucket, and its Prefix must be a string")
	}
	m.Target = &resultTarget{Bucket: told.Bucket, Prefix: told.Prefix}
	return nil
}

// fraction is amount for a number that need not be whole.
func (w *interpreter) fraction(n *amount) (float64, *stateError) {
	v := w.view(w.input)
	switch {
	case n.query != nil:
		value, f := n.query.typed(v, jsonata.Number)
		if f != nil {
			return 0, f
		}
		found, err := strconv.ParseFloat(shown(queryValue(value)), 64)
		if err != nil {
			return 0, queryError(&n.query.at, "The %s field cannot be parsed as a number: %s", n.query.at.field, shown(queryValue(value)))
		}
		return found, nil
	case n.path == nil:
		return n.number, nil
	}
	v, f := w.seen()
	if f != nil {
		return 0, f
	}
	value, f := v.resolve(n.path)
	if f != nil {
		return 0, f
	}
	found, err := strconv.ParseFloat(plain(value), 64)
	if err != nil || math.IsNaN(found) || math.IsInf(found, 0) {
		return 0, runtimeError("The %s field refers to value \"%s\" which is not a valid float: %s", n.field, plain(value), n.path.Text())
	}
	return found, nil
}

// childAttributes is what the machine that runs an item is told about itself, and
// with it all that the program that started this run has told.
func (w *interpreter) childAttributes(m *mapSettings, index int) atom.Value {
	a := *w.attributes()
	d := w.state.items.distributed
	a.ExecutionName, a.ExecutionID = childName(m.ID, index), w.childARN(m, index)
	a.StateMachineName, a.StateMachineID = a.StateMachineName+w.label(), a.StateMachineID+w.label()
	a.Express, a.Map, a.MapRun = d.express, w.state.name, m.ARN
	all := map[string]json.RawMessage{}
	for _, attributes := range []atom.Value{w.ask.Run.Attributes, atom.MustEncode(a)} {
		_ = attributes.Decode(&all) // what is no object was told to somebody else
	}
	return atom.MustEncode(all)
}
