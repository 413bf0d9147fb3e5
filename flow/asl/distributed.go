package asl

import (
	"cmp"
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

	reader   *ItemQuery // what is fixed of it; nil: the items are in the state's input
	from     payload    // its Parameters or Arguments
	maxItems amount

	batches    bool // there is an ItemBatcher
	perBatch   amount
	batchBytes amount
	batchInput payload

	exports bool    // results are written to a bucket
	target  payload // which
	results resultObject

	count      amount // ToleratedFailureCount
	percentage amount // ToleratedFailurePercentage
}

// resultObject is how results are written or handed on.
type resultObject struct {
	Transformation string `json:"transformation,omitempty"` // NONE, COMPACT or FLATTEN; "" is as if there were no WriterConfig
	Lines          bool   `json:"lines,omitempty"`          // OutputType is JSONL
}

func distributedOf(s *state) *distributed {
	n := s.source
	d := &distributed{
		express: isText(processorOf(n).Get("ProcessorConfig").Get("ExecutionType"), "EXPRESS"),
		count:   amountOf(n, "ToleratedFailureCount"), percentage: amountOf(n, "ToleratedFailurePercentage"),
	}
	if label := n.Get("Label"); label != nil {
		d.label, d.named = label.Str, true
	} else {
		d.label = namedUUID(s.name)
	}
	if reader := n.Get("ItemReader"); reader != nil {
		config := reader.Get("ReaderConfig")
		d.reader = &ItemQuery{Resource: reader.Get("Resource").Str, ReaderConfig: readerConfigOf(config)}
		d.from = s.payload(cmp.Or(reader.Get("Parameters"), reader.Get("Arguments")))
		d.maxItems = amountOf(config, "MaxItems")
	}
	if batcher := n.Get("ItemBatcher"); batcher != nil {
		d.batches = true
		d.perBatch, d.batchBytes = amountOf(batcher, "MaxItemsPerBatch"), amountOf(batcher, "MaxInputBytesPerBatch")
		d.batchInput = s.payload(batcher.Get("BatchInput"))
	}
	if writer := n.Get("ResultWriter"); writer != nil {
		d.exports = writer.Get("Resource") != nil
		d.target = s.payload(cmp.Or(writer.Get("Parameters"), writer.Get("Arguments")))
		config := writer.Get("WriterConfig")
		d.results = resultObject{Transformation: textOf(config, "Transformation"), Lines: isText(config.Get("OutputType"), "JSONL")}
	}
	return d
}

func readerConfigOf(n *node) ReaderConfig {
	c := ReaderConfig{
		InputType: textOf(n, "InputType"), CSVHeaderLocation: textOf(n, "CSVHeaderLocation"), CSVDelimiter: textOf(n, "CSVDelimiter"),
		ItemsPointer: textOf(n, "ItemsPointer"), ManifestType: textOf(n, "ManifestType"), Transformation: textOf(n, "Transformation"),
	}
	if headers := n.Get("CSVHeaders"); headers != nil {
		for _, header := range headers.Items {
			c.CSVHeaders = append(c.CSVHeaders, header.Str)
		}
	}
	return c
}

// textOf returns a text of an object, "" if it is not there.
func textOf(n *node, name string) string {
	if v := n.Get(name); v != nil {
		return v.Str
	}
	return ""
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
	m := &mapSettings{Form: d.results}
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
	d := w.state.items.distributed
	if m.Count, f = w.amount(&d.count, math.MinInt64, math.MaxInt64); f != nil {
		return f
	}
	if m.Count < 0 {
		return runtimeError("ToleratedFailureCount cannot be negative.")
	}
	if m.Percentage, f = w.fraction(&d.percentage); f != nil {
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
		if m.MaxItems, f = w.amount(&d.maxItems, math.MinInt64, math.MaxInt64); f != nil {
			return f
		}
		query := *d.reader
		if query.Parameters, f = rawOf(d.from, v); f != nil {
			return f
		}
		m.Reader = &query
	}
	if m.Batches = d.batches; m.Batches {
		if m.PerBatch, f = w.amount(&d.perBatch, 0, maxItemsPerBatchAny); f != nil {
			return f
		}
		if m.BatchBytes, f = w.amount(&d.batchBytes, 0, math.MaxInt64); f != nil {
			return f
		}
		if m.BatchInput, f = rawOf(d.batchInput, v); f != nil {
			return f
		}
	}
	if d.exports {
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
	raw, f := rawOf(w.state.items.distributed.target, v)
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
			return 0, queryError(n.query.at, "The %s field cannot be parsed as a number: %s", n.query.at.Key, shown(queryValue(value)))
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
