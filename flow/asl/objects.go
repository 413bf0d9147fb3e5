package asl

import (
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// The names of the tasks by which a distributed Map reads items and writes results.
// The language itself reads and writes nothing. Package engine/tasks has both tasks
// for local folders. A program that uses another object store registers its own
// tasks under the same names.
const (
	// ReadItems is the name of the task that reads a page of items: it is given an
	// [ItemQuery] and returns an [ItemPage]. If the task fails, the Map fails with
	// States.ItemReaderFailed.
	ReadItems = interpreter.ReadItems
	// WriteObjects is the name of the task that writes results: it is given an
	// [ObjectWrite] and returns anything. If the task fails, the Map fails with
	// States.ResultWriterFailed.
	WriteObjects = interpreter.WriteObjects
)

type (
	// ItemQuery asks for the next items of an ItemReader.
	ItemQuery = interpreter.ItemQuery
	// ReaderConfig is that of the definition, with its fields as they stand there.
	ReaderConfig = syntax.ReaderConfig
	// ItemPage is a page of items that ReadItems returns.
	ItemPage = interpreter.ItemPage
	// Item is one item that was read.
	Item = interpreter.Item
	// ObjectWrite writes parts of objects. Doing it twice is the same as doing it once.
	ObjectWrite = interpreter.ObjectWrite
	// ObjectPart is the content of an object from an offset on.
	ObjectPart = interpreter.ObjectPart
)
