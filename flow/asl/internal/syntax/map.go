package syntax

import (
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// Distributed contains the fields that only a distributed Map state has. Its items run as separate executions.
type Distributed struct {
	Label   string // the Label, or a name in AWS's form
	Named   bool   // the definition has a Label
	Express bool

	Reader  *ItemReader   // nil: the items are in the state's input
	Batcher *ItemBatcher  // nil: each item is a child's input
	Writer  *ResultWriter // nil: the results are the state's result
}

// An ItemReader defines where items are read.
type ItemReader struct {
	Resource Resource
	From     expression.Payload // Parameters or Arguments
	Config   *ItemReaderConfig
}

// An ItemReaderConfig defines how items are read.
type ItemReaderConfig struct {
	ReaderConfig

	MaxItems Amount
}

// An ItemBatcher defines how many items a child receives.
type ItemBatcher struct {
	Items Amount
	Bytes Amount
	Input expression.Payload
}

// A ResultWriter defines where results are written, and in which form. Without a resource, the state returns them
// in that form.
type ResultWriter struct {
	Resource Resource
	Target   expression.Payload // Parameters or Arguments
	Config   *WriterConfig
}

// A WriterConfig defines the form of written results.
type WriterConfig struct{ Transformation, OutputType string }

// Form returns the form in which results are written or returned.
func (w *ResultWriter) Form() ResultObject {
	if w == nil {
		return ResultObject{}
	}
	return ResultObject{Transformation: w.Config.Transformation, Lines: w.Config.OutputType == "JSONL"}
}

// ResultObject is the form in which results are written or returned.
type ResultObject struct {
	// Transformation is NONE, COMPACT or FLATTEN; "" means that there is no WriterConfig.
	Transformation string `json:"transformation,omitempty"`
	Lines          bool   `json:"lines,omitempty"` // OutputType is JSONL
}

// Map contains the fields that only a Map state has.
type Map struct {
	Path        *jsonpath.Path     // ItemsPath
	Items       *Items             // Items; nil, and no path, means the input itself
	Selector    expression.Payload // nil: the item unchanged
	Processor   *Level
	Concurrency Amount       // 0: all at once
	Count       Amount       // ToleratedFailureCount
	Percentage  Amount       // ToleratedFailurePercentage
	Distributed *Distributed // nil: the items run in the machine itself
}

// Items is the Items field of a Map state.
type Items struct {
	expression.Payload

	At expression.Place
}

// ReaderConfig is the ReaderConfig of the definition, with its fields unchanged.
type ReaderConfig struct {
	InputType         string   `json:"inputType,omitempty"`
	CSVHeaderLocation string   `json:"csvHeaderLocation,omitempty"`
	CSVHeaders        []string `json:"csvHeaders,omitempty"`
	CSVDelimiter      string   `json:"csvDelimiter,omitempty"`
	ItemsPointer      string   `json:"itemsPointer,omitempty"`
	ManifestType      string   `json:"manifestType,omitempty"`
	Transformation    string   `json:"transformation,omitempty"`
}
