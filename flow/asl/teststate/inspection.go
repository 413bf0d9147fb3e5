package teststate

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// An Inspection is the data of a tested state at each step, as far as AWS shows it
// for a state of that type. A field that AWS does not show is nil.
type Inspection struct {
	Input               atom.Value `json:"input,omitempty"`
	AfterInputPath      atom.Value `json:"afterInputPath,omitempty"`
	AfterParameters     atom.Value `json:"afterParameters,omitempty"`
	AfterArguments      atom.Value `json:"afterArguments,omitempty"`
	AfterItemsPath      atom.Value `json:"afterItemsPath,omitempty"`
	AfterItemSelector   atom.Value `json:"afterItemSelector,omitempty"`
	Result              atom.Value `json:"result,omitempty"`
	AfterResultSelector atom.Value `json:"afterResultSelector,omitempty"`
	AfterResultPath     atom.Value `json:"afterResultPath,omitempty"`
	Variables           atom.Value `json:"variables,omitempty"` // as they are behind the state

	MaxConcurrency             *int          `json:"maxConcurrency,omitempty"`
	ToleratedFailureCount      *int          `json:"toleratedFailureCount,omitempty"`
	ToleratedFailurePercentage *float64      `json:"toleratedFailurePercentage,omitempty"`
	ErrorDetails               *ErrorDetails `json:"errorDetails,omitempty"`
}

// ErrorDetails says which entries of Retry and Catch an error met, from 0.
type ErrorDetails struct {
	RetryIndex                  *int   `json:"retryIndex,omitempty"`
	RetryBackoffIntervalSeconds *int64 `json:"retryBackoffIntervalSeconds,omitempty"`
	CatchIndex                  *int   `json:"catchIndex,omitempty"`
}

// The stages that AWS shows of a state by its type (recorded; see the page of
// TestState in its reference). Of types that are not named it shows what InputPath gives
// in JSONPath, and nothing in JSONata.
var (
	shownInJSONPath = map[syntax.Kind][]interpreter.Stage{
		syntax.PassState: {
			interpreter.AfterInputPath, interpreter.AfterParameters, interpreter.AfterResultSelector, interpreter.AfterResultPath,
		},
		syntax.TaskState: {
			interpreter.AfterInputPath, interpreter.AfterParameters, interpreter.WorkResult,
			interpreter.AfterResultSelector, interpreter.AfterResultPath,
		},
		syntax.ParallelState: {interpreter.AfterResultSelector, interpreter.AfterResultPath},
		syntax.MapState: {
			interpreter.AfterInputPath, interpreter.AfterItemsPath, interpreter.AfterItemSelector,
			interpreter.AfterResultSelector, interpreter.AfterResultPath,
		},
	}
	shownInJSONata = map[syntax.Kind][]interpreter.Stage{
		syntax.TaskState: {interpreter.AfterParameters, interpreter.WorkResult},
		syntax.MapState:  {interpreter.AfterItemSelector},
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

// show takes over what the interpreter has noted.
func show(i *Inspection, w *interpreter.Interpreter) {
	i.Input = w.Input.Encoded()
	fields := [interpreter.Stages]*atom.Value{
		&i.AfterInputPath, &i.AfterParameters, &i.AfterItemsPath, &i.AfterItemSelector, &i.Result, &i.AfterResultSelector, &i.AfterResultPath,
	}
	if w.State.Language == syntax.JSONata {
		fields[interpreter.AfterParameters] = &i.AfterArguments
	}
	if w.State.Kind == syntax.FailState && w.State.Language == syntax.JSONPath {
		w.Inspected(interpreter.AfterInputPath, w.Input) // it has no InputPath
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
