package driver

import "github.com/ebbflow/ebb/states"

// Steps are how the goroutine that drives lets the one that called Live yield the phases.
type steps struct {
	entered chan states.Engine
	goOn    chan verdict
	left    bool // as the goroutine that drives knows it: nobody wants to be told any more
	gone    bool // the same, as the one that called Live knows it
}

// A verdict is what becomes of a run after a phase was yielded.
type verdict uint8

const (
	goesOn    verdict = iota
	comesRest         // the loop was left
	stops             // the loop panicked, or its goroutine ends
)

// step has a phase yielded, and waits until it is.
func (a *attention) step(phase states.Engine) error {
	if a.mode.Yield == nil || a.steps.left {
		return nil
	}
	a.steps.entered <- phase
	switch <-a.steps.goOn {
	case goesOn:
	case comesRest:
		a.steps.left, a.quit = true, true
	case stops:
		return ErrStopped
	}
	return nil
}
