package sm4c

import "time"

// A state is one compiled state.
type state struct {
	name        string
	number      int
	filter      *expression // nil: the view is the data
	enter, exit effect
	transitions []*transition
	wait        string // name of the node that is the time of a transition
	waitsAgain  bool   // there may be more than one of it
}

// An effect is an action of a state or transition, and what becomes of its
// result.
type effect struct {
	action  *action     // nil: there is none
	handler *expression // nil: the result is dropped
}

// A transition is one compiled transition.
type transition struct {
	number    int    // in its state
	label     string // what it is taken for
	next      *state // nil: the state is not left
	trigger   trigger
	condition *expression
	groups    []*group
	timeout   time.Duration
	effect    effect
}

// A group is what a transition needs one event for.
type group struct {
	events    []*event // any of them
	condition *expression
	handler   *expression
}

// of yields the transitions of the state with a trigger, in the order of the
// definition.
func (s *state) of(t trigger) func(yield func(*transition) bool) {
	return func(yield func(*transition) bool) {
		for _, tr := range s.transitions {
			if tr.trigger == t && !yield(tr) {
				return
			}
		}
	}
}

// first returns the first transition with a trigger, nil if there is none.
func (s *state) first(t trigger) *transition {
	for tr := range s.of(t) {
		return tr
	}
	return nil
}

// An event is the definition of one.
type event struct {
	name        string
	typ, source string // "": any
	correlation []*correlation
}

// A correlation is an attribute that an event must have: with a value, or with
// that of the run's key of the name.
type correlation struct {
	attribute string // in lower case
	value     *template
}

// A function is the definition of one.
type function struct {
	name      string
	kind      functionType
	operation string
	at        int         // where the operation stands in the definition; -1 when it was loaded
	formula   *expression // of an expression function
}
