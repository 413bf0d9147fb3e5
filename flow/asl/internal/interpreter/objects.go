package interpreter

import (
	"encoding/json"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// What a distributed Map asks of the world outside: it is asked of tasks under
// these names, for the language itself reads and writes nothing. Package
// engine/tasks has both for local folders; who has another store of objects
// registers tasks of its own under the same names.
const (
	// ReadItems is the name of the task that reads a page of items: it is given an
	// [ItemQuery] and returns an [ItemPage]. What it fails with fails the Map with
	// States.ItemReaderFailed.
	ReadItems = "ebb:items"
	// WriteObjects is the name of the task that writes results: it is given an
	// [ObjectWrite] and returns anything. What it fails with fails the Map with
	// States.ResultWriterFailed.
	WriteObjects = "ebb:objects"
)

// An ItemQuery asks for the next items of an ItemReader.
type ItemQuery struct {
	Resource     string              `json:"resource"`             // such as arn:aws:states:::s3:getObject
	Parameters   json.RawMessage     `json:"parameters,omitempty"` // Bucket and Key, or Bucket and Prefix
	ReaderConfig syntax.ReaderConfig `json:"readerConfig"`
	From         string              `json:"from,omitempty"`  // Next of the item before the first that is wanted; "" begins
	Limit        int                 `json:"limit,omitempty"` // how many items at most
	Bytes        int                 `json:"bytes,omitempty"` // how large they may be together; one is returned whatever its size
}

// An ItemPage is what is read at once.
type ItemPage struct {
	Items []Item `json:"items"`
	End   bool   `json:"end,omitempty"` // nothing comes behind them
}

// An Item is one item that was read.
type Item struct {
	Value  json.RawMessage `json:"value"`
	Key    string          `json:"key,omitempty"`    // of a member of an object
	Source string          `json:"source,omitempty"` // where it comes from: S3://bucket/key
	Next   string          `json:"next"`             // place behind it, for From
}

// An ObjectWrite writes parts of objects. Doing it twice is the same as doing it
// once.
type ObjectWrite struct {
	Bucket string       `json:"bucket"`
	Parts  []ObjectPart `json:"parts"` // to be written in this order
}

// An ObjectPart is what becomes of an object from an offset on: Text, and nothing
// behind it.
type ObjectPart struct {
	Key    string `json:"key"`
	Offset int64  `json:"offset,omitempty"` // in bytes
	Text   string `json:"text"`
}
