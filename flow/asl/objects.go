package asl

import (
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// The names of the tasks with which a distributed Map reads items and writes results. The language itself does no
// I/O. Package engine/tasks has both tasks for local folders. A program that uses another object store registers
// its own tasks under the same names.
const (
	// ReadItems is the name of the task that reads a page of items. Its input is an [ItemQuery], its result an
	// [ItemPage]. If the task fails, the Map fails with States.ItemReaderFailed.
	ReadItems = interpreter.ReadItems
	// WriteObjects is the name of the task that writes results. Its input is an [ObjectWrite]; its result is
	// ignored. If the task fails, the Map fails with States.ResultWriterFailed.
	WriteObjects = interpreter.WriteObjects
)

type (
	// ItemQuery asks for the next items of a distributed Map with an ItemReader. It is the input of the task
	// [ReadItems].
	ItemQuery = interpreter.ItemQuery
	// ReaderConfig is the ReaderConfig of the definition, with its fields unchanged.
	ReaderConfig = syntax.ReaderConfig
	// ItemPage is a page of items, the result of ReadItems.
	ItemPage = interpreter.ItemPage
	// Item is an element of the list over which a distributed Map runs, as [ReadItems] reads it.
	Item = interpreter.Item
	// ObjectWrite asks to write results of a distributed Map: parts of objects, such as files, in a bucket. It is the
	// input of the task [WriteObjects]. Writing them twice must have the same effect as writing them
	// once.
	ObjectWrite = interpreter.ObjectWrite
	// ObjectPart is the content of an object from an offset on.
	ObjectPart = interpreter.ObjectPart
)
