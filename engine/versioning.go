package engine

// AcceptChange lets a run that started on a flow of another structure continue on the engine's flow. The run executes
// added atoms, and the engine deletes the records of removed atoms. If a removed atom took effect and is not undone,
// pass its name in forget; its effects then stay. The name does not matter to a run that has not reached the atom. The
// next checkpoint of the run commits the change, which holds from then on.
//
// If the change is not possible because of some atoms, Run changes nothing and returns an error that wraps
// [ErrChanged] and names each of them. If the new flow needs an input that the run does not have, Run changes
// nothing and returns [flow.Problems]. Runs of languages need no AcceptChange: the committed answers of their
// language stay valid.
func AcceptChange(forget ...string) RunOption { return acceptance{forget} }

type acceptance struct{ forget []string }

func (acceptance) begin(*beginning) error { return nil }
