package asl

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
)

// An Inspection is how the data of a tested state looked at each step of its
// way, as far as AWS shows it for a state of that kind. What is not shown is nil.
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

// A stage is a step of the way of a state's data.
type stage uint8

const (
	afterInputPath stage = iota
	afterParameters
	afterItemsPath
	afterItemSelector
	workResult
	afterResultSelector
	afterResultPath
	stages
)

// An inspection is what an interpreter notes of a state that is tested.
type inspection struct {
	data                [stages]*jsonValue
	concurrency         *int
	toleratedCount      *int
	toleratedPercentage *float64
}

// inspected notes what the data is at a stage, if the state is tested.
func (w *interpreter) inspected(at stage, d *jsonValue) {
	if w.inspection != nil {
		w.inspection.data[at] = d
	}
}

// stagesShown are the stages that AWS shows of a state (recorded; see the page of
// TestState in its reference).
func stagesShown(s *state) []stage {
	jsonPath := s.language == inJSONPath
	switch s.kind {
	case passState:
		switch {
		case !jsonPath:
			return nil
		case s.result != nil:
			return []stage{workResult, afterResultSelector, afterResultPath}
		}
		return []stage{afterInputPath, afterParameters, afterResultSelector, afterResultPath}
	case taskState:
		if !jsonPath {
			return []stage{afterParameters, workResult}
		}
		return []stage{afterInputPath, afterParameters, workResult, afterResultSelector, afterResultPath}
	case parallelState:
		if !jsonPath {
			return nil
		}
		return []stage{afterResultSelector, afterResultPath}
	case mapState:
		if !jsonPath {
			return []stage{afterItemSelector}
		}
		return []stage{afterInputPath, afterItemsPath, afterItemSelector, afterResultSelector, afterResultPath}
	default:
		if !jsonPath {
			return nil
		}
		return []stage{afterInputPath}
	}
}

// show takes over what the interpreter has noted.
func (i *Inspection) show(w *interpreter) {
	i.Input = w.input.encoded()
	fields := [stages]*atom.Value{
		&i.AfterInputPath, &i.AfterParameters, &i.AfterItemsPath, &i.AfterItemSelector, &i.Result, &i.AfterResultSelector, &i.AfterResultPath,
	}
	if w.state.language == inJSONata {
		fields[afterParameters] = &i.AfterArguments
	}
	if w.state.kind == failState && w.state.language == inJSONPath {
		w.inspected(afterInputPath, w.input) // it has no InputPath
	}
	shown := stagesShown(w.state)
	for at, d := range w.inspection.data {
		if d != nil && slices.Contains(shown, stage(at)) {
			*fields[at] = d.encoded()
		}
	}
	if variables := w.variables(); len(variables) > 0 {
		i.Variables = encodeData(variables)
	}
	i.MaxConcurrency, i.ToleratedFailureCount = w.inspection.concurrency, w.inspection.toleratedCount
	i.ToleratedFailurePercentage = w.inspection.toleratedPercentage
}
