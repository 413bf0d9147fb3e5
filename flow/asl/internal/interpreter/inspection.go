package interpreter

import "github.com/ebbflow/ebb/flow/asl/internal/data"

// A Stage is a step of the way of a state's data.
type Stage uint8

const (
	AfterInputPath Stage = iota
	AfterParameters
	AfterItemsPath
	AfterItemSelector
	WorkResult
	AfterResultSelector
	AfterResultPath
	Stages
)

// An Inspection is what an interpreter notes of a state that is tested.
type Inspection struct {
	Data                [Stages]*data.Value
	Concurrency         *int
	ToleratedCount      *int
	ToleratedPercentage *float64
}

// Inspected notes what the data is at a stage, if the state is tested.
func (w *surroundings) Inspected(at Stage, d *data.Value) {
	if w.Inspection != nil {
		w.Inspection.Data[at] = d
	}
}
