package scheduler

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// A Record is everything that the store keeps of an atom. The counters follow from the records.
type Record struct {
	State       states.Task
	Intention   states.Intention
	Ended       grow.EndMark
	RunEnd      grow.RunEnd // of a node: how its child run ended
	Incarnation int32
	Attempt     int32
	Result      atom.Value
	Failure     *atom.Failure
	Extra       *RecordExtra // nil if all its fields are zero; replaced, never changed
}

// A RecordExtra contains fields that most atoms never need.
type RecordExtra struct {
	RevertResult  atom.Value
	RevertFailure *atom.Failure
	Tries         *atom.History // of a retry: its tries
	RevertAttempt int32         // how often the revert of this incarnation has failed
	Due           time.Time     // when the atom's current or next wait ends
}

// extra returns the extra fields of r.
func (r *Record) extra() RecordExtra {
	if r.Extra == nil {
		return RecordExtra{}
	}
	return *r.Extra
}

// setExtra changes a copy of the extra fields of r.
func (r *Record) setExtra(change func(*RecordExtra)) {
	next := r.extra()
	change(&next)
	r.Extra = &next
}

// clearDue ends the atom's wait.
func (r *Record) clearDue() {
	if !r.Due().IsZero() {
		r.setExtra(func(x *RecordExtra) { x.Due = noTime })
	}
}

// RevertFailure returns the failure of the last revert, if it failed.
func (r *Record) RevertFailure() *atom.Failure { return r.extra().RevertFailure }

// RevertAttempt returns how often the revert of this incarnation has failed.
func (r *Record) RevertAttempt() int32 { return r.extra().RevertAttempt }

// Tries returns the tries that a retry considers, without shelved tries.
func (r *Record) Tries() atom.History {
	if t := r.extra().Tries; t != nil {
		return *t
	}
	return atom.History{}
}

// Due returns when the atom's wait ends.
func (r *Record) Due() time.Time { return r.extra().Due }

// outcome returns the outcome that a revert of r receives.
func (r *Record) outcome(failures []*atom.Failure) atom.Outcome[atom.Value] {
	var o atom.Outcome[atom.Value]
	switch {
	case r.Ended == grow.EndValue:
		o = atom.Done(r.Result)
	case r.Ended == grow.EndNone || r.Ended == grow.EndDeferred || r.Failure == nil || r.Failure.Unknown():
		o = atom.Unknown[atom.Value]()
	default:
		o = atom.Failed[atom.Value](r.Failure)
	}
	return o.Because(failures)
}

// mayHaveEffect reports whether the latest attempt had its effect, or may have had it. A run that failed may have done
// part of its work. See [storage.Atom.LeftEffect].
func (r *Record) mayHaveEffect(nested bool) bool {
	failed := r.Ended == grow.EndFailure || r.Ended == grow.EndHandled
	return r.Attempt > 0 && (!failed || r.Failure.LeavesUnknown(nested))
}

// didNothing records that nothing was done in the run of the atom or node at path, which did not succeed.
func (r *Record) didNothing(path string) {
	f := atom.Failure{Atom: path, Code: atom.CodeCancelled, Message: "cancelled before its run had done anything"}
	if r.Ended == grow.EndFailure && r.Failure != nil {
		f = *r.Failure
	}
	f.Untaken = true
	r.Ended, r.Failure = grow.EndFailure, &f
}

// NeverCalled reports whether a planned atom was cancelled while it waited for its first call, for a worker, or before
// its run had done anything. Its failure is none of the run's.
func (r *Record) NeverCalled() bool {
	return r.Ended == grow.EndFailure && (r.Attempt == 0 ||
		r.Failure != nil && r.Failure.Untaken && r.Failure.Code == atom.CodeCancelled)
}

// OutcomeUnknown reports whether it is not known whether the latest attempt had its effect.
func (r *Record) OutcomeUnknown() bool { return r.Ended != grow.EndValue }
