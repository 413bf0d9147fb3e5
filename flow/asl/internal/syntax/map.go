package syntax

import (
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// Distributed has the fields that only a distributed Map state has. Its items run as
// separate executions.
type Distributed struct {
	Label   string // Label, or a name of AWS's kind
	Named   bool   // there is a Label
	Express bool

	Reader  *ItemReader   // nil: the items are in the state's input
	Batcher *ItemBatcher  // nil: each item is a child's input
	Writer  *ResultWriter // nil: the results are the state's result
}

// An ItemReader says where items are read.
type ItemReader struct {
	Resource Resource
	From     expression.Payload // Parameters or Arguments
	Config   *ItemReaderConfig
}

// An ItemReaderConfig says how the items are read.
type ItemReaderConfig struct {
	ReaderConfig

	MaxItems Amount
}

// An ItemBatcher says how many items a child is given.
type ItemBatcher struct {
	Items Amount
	Bytes Amount
	Input expression.Payload
}

// A ResultWriter says where results are written, and how. Without a resource they
// are handed on, in the form that it says.
type ResultWriter struct {
	Resource Resource
	Target   expression.Payload // Parameters or Arguments
	Config   *WriterConfig
}

// A WriterConfig says how results are written.
type WriterConfig struct{ Transformation, OutputType string }

// Form returns how results are written or handed on.
func (w *ResultWriter) Form() ResultObject {
	if w == nil {
		return ResultObject{}
	}
	return ResultObject{Transformation: w.Config.Transformation, Lines: w.Config.OutputType == "JSONL"}
}

// ResultObject is how results are written or handed on.
type ResultObject struct {
	Transformation string `json:"transformation,omitempty"` // NONE, COMPACT or FLATTEN; "" is as if there were no WriterConfig
	Lines          bool   `json:"lines,omitempty"`          // OutputType is JSONL
}

// Map has the fields that only a Map state has.
type Map struct {
	Path        *jsonpath.Path     // ItemsPath
	Items       *Items             // Items; nil, without a path, too: the input itself
	Selector    expression.Payload // nil: the item as it is
	Processor   *Level
	Concurrency Amount       // 0: all at once
	Count       Amount       // ToleratedFailureCount
	Percentage  Amount       // ToleratedFailurePercentage
	Distributed *Distributed // nil: the items run in the machine itself
}

// Items are the Items of a Map state.
type Items struct {
	expression.Payload

	At expression.Place
}

// ReaderConfig is that of the definition, with its fields as they stand there.
type ReaderConfig struct {
	InputType         string   `json:"inputType,omitempty"`
	CSVHeaderLocation string   `json:"csvHeaderLocation,omitempty"`
	CSVHeaders        []string `json:"csvHeaders,omitempty"`
	CSVDelimiter      string   `json:"csvDelimiter,omitempty"`
	ItemsPointer      string   `json:"itemsPointer,omitempty"`
	ManifestType      string   `json:"manifestType,omitempty"`
	Transformation    string   `json:"transformation,omitempty"`
}
