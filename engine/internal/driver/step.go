package driver

import "github.com/ebbflow/ebb/states"

// steps is how the driving goroutine makes the goroutine that called Live yield the phases.
type steps struct {
	entered chan states.Engine
	goOn    chan decision
	left    bool // the loop over the phases was left; used by the driving goroutine
	gone    bool // as left; used by the goroutine that called Live
}

// A decision says how a run proceeds after a phase was yielded.
type decision uint8

const (
	goesOn    decision = iota
	comesRest          // the loop was left
	stops              // the loop panicked, or its goroutine ends
)

// step makes Live yield a phase, and waits until it has.
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
