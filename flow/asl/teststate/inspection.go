package teststate

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// An Inspection is the data of a tested state at each step, as far as AWS shows the step for a state of that type.
// A field that AWS does not show is nil.
type Inspection struct {
	Input               atom.Value `json:"input,omitempty"`               // input of the state
	AfterInputPath      atom.Value `json:"afterInputPath,omitempty"`      // value after InputPath
	AfterParameters     atom.Value `json:"afterParameters,omitempty"`     // value after Parameters
	AfterArguments      atom.Value `json:"afterArguments,omitempty"`      // value after Arguments
	AfterItemsPath      atom.Value `json:"afterItemsPath,omitempty"`      // value after ItemsPath
	AfterItemsPointer   atom.Value `json:"afterItemsPointer,omitempty"`   // value after ItemsPointer
	AfterItemSelector   atom.Value `json:"afterItemSelector,omitempty"`   // value after ItemSelector
	AfterItemBatcher    atom.Value `json:"afterItemBatcher,omitempty"`    // value after ItemBatcher
	Result              atom.Value `json:"result,omitempty"`              // result of the task
	AfterResultSelector atom.Value `json:"afterResultSelector,omitempty"` // value after ResultSelector
	AfterResultPath     atom.Value `json:"afterResultPath,omitempty"`     // value after ResultPath
	Variables           atom.Value `json:"variables,omitempty"`           // variables after the state

	// Of a Map state; nil for others
	MaxConcurrency *int `json:"maxConcurrency,omitempty"`
	// Of a Map state; nil for others
	ToleratedFailureCount *int64 `json:"toleratedFailureCount,omitempty"`
	// Of a Map state; nil for others
	ToleratedFailurePercentage *float64 `json:"toleratedFailurePercentage,omitempty"`
	// ErrorDetails describes the handling of an error; nil if there was none.
	ErrorDetails *ErrorDetails `json:"errorDetails,omitempty"`
}

// ErrorDetails names the entries of Retry and Catch that matched an error, from 0.
type ErrorDetails struct {
	// Index of the Retry that applies; nil if none does
	RetryIndex *int `json:"retryIndex,omitempty"`
	// Pause before the next attempt; nil if there is none
	RetryBackoffIntervalSeconds *int64 `json:"retryBackoffIntervalSeconds,omitempty"`
	// Index of the Catch that took the error; nil if none did
	CatchIndex *int `json:"catchIndex,omitempty"`
}

// The stages that AWS shows of a state by its type (recorded; see the page of
// TestState in its reference). Of types that are not named it shows what InputPath gives
// in JSONPath, and nothing in JSONata.
var (
	shownInJSONPath = map[syntax.Kind][]interpreter.Stage{
		syntax.PassState: {
			interpreter.AfterInputPath, interpreter.AfterParameters, interpreter.AfterResultSelector,
			interpreter.AfterResultPath,
		},
		syntax.TaskState: {
			interpreter.AfterInputPath, interpreter.AfterParameters, interpreter.WorkResult,
			interpreter.AfterResultSelector, interpreter.AfterResultPath,
		},
		syntax.ParallelState: {interpreter.AfterResultSelector, interpreter.AfterResultPath},
		syntax.MapState: {
			interpreter.AfterInputPath, interpreter.AfterItemsPath, interpreter.AfterItemsPointer,
			interpreter.AfterItemSelector, interpreter.AfterItemBatcher, interpreter.AfterResultSelector,
			interpreter.AfterResultPath,
		},
	}
	shownInJSONata = map[syntax.Kind][]interpreter.Stage{
		syntax.TaskState: {interpreter.AfterParameters, interpreter.WorkResult},
		syntax.MapState:  {interpreter.AfterItemSelector, interpreter.AfterItemBatcher},
	}
)

func stagesShown(s *syntax.State) []interpreter.Stage {
	if s.Language == syntax.JSONata {
		return shownInJSONata[s.Kind]
	}
	if s.Result != nil {
		return []interpreter.Stage{interpreter.WorkResult, interpreter.AfterResultSelector, interpreter.AfterResultPath}
	}
	if shown, ok := shownInJSONPath[s.Kind]; ok {
		return shown
	}
	return []interpreter.Stage{interpreter.AfterInputPath}
}

// show copies the data that the interpreter has recorded.
func show(i *Inspection, w *interpreter.Interpreter) {
	i.Input = w.Input.Encoded()
	fields := [interpreter.Stages]*atom.Value{
		&i.AfterInputPath, &i.AfterParameters, &i.AfterItemsPath, &i.AfterItemsPointer, &i.AfterItemSelector,
		&i.AfterItemBatcher, &i.Result, &i.AfterResultSelector, &i.AfterResultPath,
	}
	if w.State.Language == syntax.JSONata {
		fields[interpreter.AfterParameters] = &i.AfterArguments
	}
	if w.State.Kind == syntax.FailState && w.State.Language == syntax.JSONPath {
		w.Inspected(interpreter.AfterInputPath, w.Input) // the state has no InputPath
	}
	shown := stagesShown(w.State)
	for at, d := range w.Inspection.Data {
		if d != nil && slices.Contains(shown, interpreter.Stage(at)) {
			*fields[at] = d.Encoded()
		}
	}
	if variables := w.Variables(); len(variables) > 0 {
		i.Variables = data.EncodeMembers(variables)
	}
	i.MaxConcurrency, i.ToleratedFailureCount = w.Inspection.Concurrency, w.Inspection.ToleratedCount
	i.ToleratedFailurePercentage = w.Inspection.ToleratedPercentage
}
