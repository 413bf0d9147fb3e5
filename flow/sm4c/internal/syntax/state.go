package syntax

import (
	"slices"
	"time"
)

// A State is one compiled state.
type State struct {
	At          int // where it stands in the definition; -1 if it was loaded
	Name        string
	Number      int
	Filter      *Expression // nil: the view is all data
	Enter, Exit Effect
	Transitions []*Transition
	Wait        string // name of the node for the time of a transition
	WaitsAgain  bool   // there may be more than one such node
}

// An Effect is an action of a state or transition, and the handler of its result.
type Effect struct {
	Action  *Action     // nil: no action
	Handler *Expression // nil: the result is dropped
}

// A Transition is one compiled transition.
type Transition struct {
	At        int    // where it stands in the definition; -1 if it was loaded
	Number    int    // index in its state
	Label     string // condition for messages
	Next      *State // nil: the state is not left
	Trigger   Trigger
	Condition *Expression
	Groups    []*Group
	Timeout   time.Duration
	Effect    Effect
}

// A Group describes the events of which a transition needs one.
type Group struct {
	Events    []*Event // any of these events
	Condition *Expression
	Handler   *Expression
}

// Of yields the transitions of the state with a trigger, in the order of the definition.
func (s *State) Of(t Trigger) func(yield func(*Transition) bool) {
	return func(yield func(*Transition) bool) {
		for _, tr := range s.Transitions {
			if tr.Trigger == t && !yield(tr) {
				return
			}
		}
	}
}

// First returns the first transition with a trigger; nil if there is none.
func (s *State) First(t Trigger) *Transition {
	for tr := range s.Of(t) {
		return tr
	}
	return nil
}

// An Event is the definition of an event.
type Event struct {
	Name        string
	Typ, Source string // "": any type or source
	Correlation []*Correlation
}

// A Correlation is an attribute that an event must have, with a fixed value or the value of the run's key with that
// name.
type Correlation struct {
	Attribute string // in lower case
	Value     *Template
}

// A Function is the definition of a function.
type Function struct {
	Name      string
	Kind      FunctionType
	Operation string
	At        int         // offset of the operation in the definition; -1 if it was loaded
	Formula   *Expression // of an expression function
}

// Successors returns the states that transitions lead to.
func (s *State) Successors() []*State {
	var next []*State
	for _, t := range s.Transitions {
		if t.Next != nil && t.Trigger != Inert {
			next = append(next, t.Next)
		}
	}
	return next
}

// Effects returns the actions of the state and its transitions, those of the state first.
func (s *State) Effects() []*Effect {
	all := []*Effect{&s.Enter, &s.Exit}
	for _, t := range s.Transitions {
		all = append(all, &t.Effect)
	}
	return slices.DeleteFunc(all, func(e *Effect) bool { return e.Action == nil })
}

// Trigger is the cause that makes a transition fire.
type Trigger uint8

// The triggers of transitions.
const (
	Implicit  Trigger = iota // at once
	Condition                // if its condition holds
	Events                   // when its groups have their events
	Timer                    // when its time has passed
	Inert                    // never: it combines triggers, which has no meaning
)
