package scheduler

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// End says how the execution of the present attempt ended. It is kept while the
// atom is reverted, and is what a revert is told by.
type End uint8

// The ends of an attempt.
const (
	EndNone     End = iota // not ended, or not known how
	EndValue               // with a result
	EndFailure             // with a failure
	EndHandled             // with a failure that the language has dealt with
	EndDeferred            // not ended: another party ends it
	EndUndoing             // of a flow, not ended: what its result says is being undone first
)

// A Record is all that is persisted of an atom. Nothing else is: the counters
// follow from the records.
type Record struct {
	State       states.Task
	Intention   states.Intention
	Ended       End
	Incarnation int32
	Attempt     int32
	Result      atom.Value
	Failure     *atom.Failure
	Rare        *Rare // nil while there is nothing rare; replaced, never changed
}

// Rare is what most atoms never have.
type Rare struct {
	RevertResult  atom.Value
	RevertFailure *atom.Failure
	Tries         *atom.History // of a retry
	RevertAttempt int32         // how often this incarnation's revert has failed
	Due           time.Time     // when the wait that the atom is in, or will be in, ends
}

// rare returns what is rare about r, for reading.
func (r *Record) rare() Rare {
	if r.Rare == nil {
		return Rare{}
	}
	return *r.Rare
}

// setRare replaces what is rare about r.
func (r *Record) setRare(change func(*Rare)) {
	next := r.rare()
	change(&next)
	r.Rare = &next
}

// clearDue ends the wait the atom is in.
func (r *Record) clearDue() {
	if !r.Due().IsZero() {
		r.setRare(func(x *Rare) { x.Due = noTime })
	}
}

// RevertFailure returns the failure of the last revert, if it failed.
func (r *Record) RevertFailure() *atom.Failure { return r.rare().RevertFailure }

// RevertAttempt returns how often the revert of this incarnation has failed.
func (r *Record) RevertAttempt() int32 { return r.rare().RevertAttempt }

// Tries returns what a retry decides by, without the tries that were shelved.
func (r *Record) Tries() atom.History {
	if t := r.rare().Tries; t != nil {
		return *t
	}
	return atom.History{}
}

// Due returns when the wait the atom is in ends.
func (r *Record) Due() time.Time { return r.rare().Due }

// outcome is what a revert of r is told.
func (r *Record) outcome(failures []*atom.Failure) atom.Outcome[atom.Value] {
	var o atom.Outcome[atom.Value]
	switch {
	case r.Ended == EndValue:
		o = atom.Done(r.Result)
	case r.Ended == EndNone || r.Ended == EndDeferred || r.Failure == nil || perhaps(r.Failure):
		o = atom.Unknown[atom.Value]()
	default:
		o = atom.Failed[atom.Value](r.Failure)
	}
	return o.Because(failures)
}

// perhaps reports whether an attempt that failed so may have had its effect all
// the same: it was given up on, rather than having said no.
func perhaps(f *atom.Failure) bool {
	switch f.Code {
	case atom.CodeTimeout, atom.CodeCancelled, atom.CodeHeartbeatLost, atom.CodeStartToClose, atom.CodeLost:
		return true
	}
	return false
}
