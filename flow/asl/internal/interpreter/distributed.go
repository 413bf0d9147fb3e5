package interpreter

import (
	"encoding/json"
	"math"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// mapSettings are the settings of a map run, evaluated when its state starts.
type mapSettings struct {
	mapLimits

	ID         string              `json:"id"`                 // unique among all map runs
	ARN        string              `json:"arn"`                // ARN of the map run
	Reader     *ItemQuery          `json:"reader,omitempty"`   // nil: the items are in the state's input
	MaxItems   int64               `json:"maxItems,omitempty"` // 0: all items
	Batches    bool                `json:"batches,omitempty"`
	PerBatch   int64               `json:"perBatch,omitempty"`   // items in a batch; 0: as many as fit
	BatchBytes int64               `json:"batchBytes,omitempty"` // size of a child's input in bytes
	BatchInput json.RawMessage     `json:"batchInput,omitempty"`
	Target     *resultTarget       `json:"target,omitempty"` // nil: the results are the state's result
	Form       syntax.ResultObject `json:"form,omitzero"`

	redrive int // number of the map run's redrive; Express executions that it starts have names of their own
}

// mapLimits are the settings of a map run that may change while it runs.
type mapLimits struct {
	Slots      int     `json:"slots"`                // maximum number of concurrent children
	Default    bool    `json:"default,omitempty"`    // Slots is Ebb's own number
	Count      int64   `json:"count,omitempty"`      // number of items that may fail
	Percentage float64 `json:"percentage,omitempty"` // percentage of items that may fail
}

// setSlots sets how many children may run at once; 0 sets Ebb's own number.
func (l *mapLimits) setSlots(n int64) {
	l.Slots, l.Default = int(min(n, maxConcurrentOnAWS)), n == 0
	if l.Default {
		l.Slots = maxChildren
	}
}

// resultTarget is the destination of a ResultWriter.
type resultTarget struct {
	Bucket string `json:"bucket"`
	Prefix string `json:"prefix,omitempty"`
}

const (
	// maxChildren is the number of concurrent executions of a distributed Map without MaxConcurrency.
	// MaxConcurrency may be larger, up to AWS's maximum.
	maxChildren         = 1000
	maxConcurrentOnAWS  = 10_000
	maxItemsPerBatchAny = math.MaxInt32
)

// distribute evaluates the settings of a map run. It also writes the event that the state has started, at the point of
// the evaluation at which AWS writes it.
func (w *history) distribute(told *Shared) *stateerror.Error {
	d := w.State.Items.Distributed
	v, f := w.seen()
	if f != nil {
		return f
	}
	told.input = v.Input
	m := &mapSettings{Form: d.Writer.Form()}
	slots, f := w.Amount(&w.State.Items.Concurrency, 0, syntax.MaxSeconds)
	if f != nil {
		return f
	}
	m.setSlots(slots)
	length := 0
	if d.Reader == nil {
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
	m.ID = expression.UUID(w.Random(), w.Random(), 4)
	m.ARN = w.mapRunARN(m.ID)
	if _, ok := w.world(); ok {
		w.growth.Labels = map[string]string{MapRunLabel + m.ID: MapRunStarted}
	}
	told.run = m
	return nil
}

// mapStarted writes the event that a Map state has started.
func (w *history) mapStarted(length int) {
	details := newDetails()
	details.Number("length", int64(length))
	w.event("MapStateStarted", ended(details))
}

// lengthOf returns the number of items. Items are the elements of an array or, if a distributed Map names them, the
// members of an object.
func (w *history) lengthOf(items *data.Value) (int, *stateerror.Error) {
	tree, f := items.Look()
	if f != nil {
		return 0, f
	}
	switch tree := tree.(type) {
	case []any:
		return len(tree), nil
	case *jsontext.OrderedMap:
		named := w.State.Items.Items != nil || w.State.Language == syntax.JSONPath // in JSONPath, $ if by nothing else
		if named && w.State.Items.Distributed != nil {
			return tree.Len(), nil
		}
	}
	return 0, w.noArray(items)
}

// tolerance evaluates how many items may fail.
func (w *history) tolerance(m *mapSettings) (f *stateerror.Error) {
	items := w.State.Items
	if m.Count, f = w.Amount(&items.Count, math.MinInt64, math.MaxInt64); f != nil {
		return f
	}
	if m.Count < 0 {
		return stateerror.Runtimef("ToleratedFailureCount cannot be negative.")
	}
	if m.Percentage, f = w.fraction(&items.Percentage); f != nil {
		return f
	}
	if m.Percentage < 0 || m.Percentage > 100 {
		return stateerror.Runtimef("ToleratedFailurePercentage must be between 0 and 100.")
	}
	return nil
}

// sources evaluates where items come from, how they are batched, and where results go.
func (w *history) sources(m *mapSettings) *stateerror.Error {
	d := w.State.Items.Distributed
	v, f := w.seen()
	if f != nil {
		return f
	}
	if d.Reader != nil {
		if m.MaxItems, f = w.Amount(&d.Reader.Config.MaxItems, math.MinInt64, math.MaxInt64); f != nil {
			return f
		}
		m.Reader = &ItemQuery{Resource: d.Reader.Resource.URI, ReaderConfig: d.Reader.Config.ReaderConfig}
		if m.Reader.Parameters, f = w.rawOf(d.Reader.From, v); f != nil {
			return f
		}
	}
	if m.Batches = d.Batcher != nil; m.Batches {
		if m.PerBatch, f = w.Amount(&d.Batcher.Items, 0, maxItemsPerBatchAny); f != nil {
			return f
		}
		if m.BatchBytes, f = w.Amount(&d.Batcher.Bytes, 0, math.MaxInt64); f != nil {
			return f
		}
		if m.BatchInput, f = w.rawOf(d.Batcher.Input, v); f != nil {
			return f
		}
	}
	if d.Writer != nil && d.Writer.Resource.URI != "" {
		return w.target(m, v)
	}
	return nil
}

// rawOf returns the value of a payload; nil if the payload is nil.
func (w *history) rawOf(p expression.Payload, v *expression.View) (json.RawMessage, *stateerror.Error) {
	if p == nil {
		return nil, nil
	}
	value, f := w.computed(p, v)
	if f != nil {
		return nil, f
	}
	return value.Encoded().JSON(), nil
}

// target evaluates where results are written.
func (w *history) target(m *mapSettings, v *expression.View) *stateerror.Error {
	raw, f := w.rawOf(w.State.Items.Distributed.Writer.Target, v)
	if f != nil {
		return f
	}
	var told struct {
		Bucket string `json:"Bucket"` //nolint:tagliatelle // AWS's name
		Prefix string `json:"Prefix"` //nolint:tagliatelle // AWS's name
	}
	if err := json.Unmarshal(raw, &told); err != nil || told.Bucket == "" {
		return stateerror.Runtimef("the ResultWriter must be given a Bucket, and its Prefix must be a string")
	}
	m.Target = &resultTarget{Bucket: told.Bucket, Prefix: told.Prefix}
	return nil
}

// The labels of a run that has started a map run: see asl.MapRunLabel.
const (
	MapRunLabel   = "map-run."
	MapRunStarted = "started"
	MapRunEvent   = "map-run-event."
)

// childAttributes returns the attributes of the run of some items: its own, and those of this run.
func (w *history) childAttributes(m *mapSettings, index, items int) atom.Value {
	a := *w.attributes()
	d := w.State.Items.Distributed
	a.ExecutionName, a.ExecutionID = w.childName(m, index), w.childARN(m, index)
	a.StateMachineName, a.StateMachineID = a.StateMachineName+w.label(), a.StateMachineID+w.label()
	a.Express, a.Map, a.MapRun, a.Items = d.Express, w.State.Name, m.ARN, items
	return w.handedOn(&a)
}

// The tasks that read items and write results: see package asl.
const (
	ReadItems    = "ebb:items"
	WriteObjects = "ebb:objects"
)

// An ItemQuery asks for the next items of a distributed Map with an ItemReader. It is the input of the task
// [ReadItems], whose result is an [ItemPage].
type ItemQuery struct {
	Resource     string              `json:"resource"`             // such as arn:aws:states:::s3:getObject
	Parameters   json.RawMessage     `json:"parameters,omitempty"` // Bucket and Key, or Bucket and Prefix
	ReaderConfig syntax.ReaderConfig `json:"readerConfig"`
	// From is Next of the item before the first requested one; "" starts at the beginning.
	From  string `json:"from,omitempty"`
	Limit int    `json:"limit,omitempty"` // maximum number of items
	// Maximum size of the items together in bytes; the first item is returned whatever its size.
	Bytes int `json:"bytes,omitempty"`
}

// An ItemPage is a page of items that ReadItems returns.
type ItemPage struct {
	Items []Item `json:"items"`
	End   bool   `json:"end,omitempty"` // no items follow
}

// An Item is an element of the list over which a distributed Map runs.
type Item struct {
	Value  json.RawMessage `json:"value"`
	Key    *string         `json:"key,omitempty"`    // name of a member of an object; nil for an element of an array
	Source string          `json:"source,omitempty"` // source of the item: S3://bucket/key
	Next   string          `json:"next"`             // position after the item, for ItemQuery.From
}

// An ObjectWrite asks to write results of a distributed Map: parts of objects, such as files, in a bucket. It is the
// input of the task [WriteObjects]. Writing them twice must have the same effect as writing them once.
type ObjectWrite struct {
	Bucket string       `json:"bucket"`
	Parts  []ObjectPart `json:"parts"` // to be written in this order
}

// An ObjectPart is the content of an object from an offset on: Text, and nothing after Text.
type ObjectPart struct {
	Key    string `json:"key"`
	Offset int64  `json:"offset,omitempty"` // in bytes
	Text   string `json:"text"`
}
