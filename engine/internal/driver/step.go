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

// yield yields a phase that the driver has entered. It reports false when the loop was
// left. If the loop panics, or its goroutine ends, the run stops first and is released.
func (d *Driver) yield(phase states.Engine) bool {
	v := stops
	defer func() {
		d.att.steps.goOn <- v
		if v == stops {
			<-d.att.rest
			d.env.Runs.Release(d.storing, d.claim)
		}
	}()
	if d.Mode.Yield(phase) {
		v = goesOn
		return true
	}
	v, d.att.steps.gone = comesRest, true
	return false
}
