package engine

// AcceptChange lets a run that was begun on a flow of another structure go on
// with the engine's. Atoms that were added are still to be executed; atoms that
// were removed are forgotten. One that did something, and is not undone, can be
// forgotten only when it is named: what it did then stays. That the run belongs to
// the new flow is committed with its next checkpoint, and holds from then on.
//
// Run returns an error that wraps [ErrChanged] and names every atom that is in the
// way, or [flow.Problems] when the new flow needs an input that the run does not
// have; nothing is changed then. Runs of languages cannot be compared and need no
// comparing: what their language answered holds.
func AcceptChange(forget ...string) RunOption { return acceptance{forget} }

type acceptance struct{ forget []string }

func (acceptance) begin(*beginning) error { return nil }
