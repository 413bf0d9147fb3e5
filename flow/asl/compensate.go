package asl

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// Compensation is Ebb's addition to the language: what was done is undone before
// the machine goes on, because a catcher says so, or because it is done again.

// A compensation is the Revert of a catcher: what it has undone first.
type compensation struct {
	inside bool   // what the state did; otherwise all that the level did
	to     *state // but only what came after this state; nil: all
}

// undoes reports whether some of what the state does can be undone.
func (s *state) undoes() bool {
	return s.revert != nil && !s.revert.never || some(s.within(), (*state).undoes)
}

// An intent is what a level goes on with once something is undone: a catcher, or
// another attempt.
type intent struct {
	catcher int       // index from 1; 0: another attempt
	name    string    // of the error that was caught
	cause   string    //
	bare    bool      // it had no name
	due     time.Time // of the attempt
}

// compensate has something undone first. Until then the level waits.
func (w *interpreter) compensate(what *compensation, then *intent) (step, *stateError) {
	want := &flow.Undoing{}
	switch {
	case what.inside:
		want.Under = w.ask.Cause.Name
	case what.to != nil:
		want.To = nodeName(what.to.name, w.visits[what.to.name])
	}
	n := w.noted(w.remembers())
	n.intent = then
	want.Note = n.encode()
	w.growth.Undo = want
	return step{waits: true}, nil
}

// catches leaves the state by a catcher, or has something undone first.
func (w *interpreter) catches(i int, f *stateError) (step, *stateError) {
	k := w.state.catch[i]
	if k.revert == nil || k.revert.inside && !w.attempted {
		return w.leave(&k.out, treeValue(f.output()))
	}
	return w.compensate(k.revert, &intent{catcher: i + 1, name: f.name, cause: f.cause, bare: f.bare})
}

// undone goes on with what was intended.
func (w *interpreter) undone(then *intent) (step, *stateError) {
	if i := then.catcher - 1; i >= 0 && i < len(w.state.catch) {
		f := &stateError{name: then.name, cause: then.cause, bare: then.bare}
		return w.leave(&w.state.catch[i].out, treeValue(f.output()))
	}
	return w.anew(then.due)
}

// undoFailed is the error that something could not be undone. It is for a catcher
// that names it, and for no other: what is half undone is no error like others.
func (w *interpreter) undoFailed(failure *atom.Failure) (step, *stateError) {
	f := &stateError{name: atom.CodeRevertFailed}
	if failure != nil {
		f.cause = failure.Code
		if failure.Message != "" {
			f.cause += ": " + failure.Message
		}
	}
	for i := range w.state.catch {
		if f.matchesAny(w.state.catch[i].errors, w.machine.profile) {
			return w.leave(&w.state.catch[i].out, treeValue(f.output()))
		}
	}
	return step{}, f
}

// anew adds another node for the state, which begins at a time.
func (w *interpreter) anew(due time.Time) (step, *stateError) {
	var spec flow.Spec
	var f *stateError
	if w.state.kind == taskState {
		spec, f = w.workSpec(w.upcoming())
	} else {
		var group *flow.Group
		var told *shared
		if group, told, f = w.forkGroup(); f == nil {
			group.Shared = told.encode()
		}
		spec = flow.Spec{Kind: flow.Fork, Group: group}
	}
	if f != nil {
		return step{}, f
	}
	spec.Name, spec.Note, spec.Due = w.visitName(), w.note(true), due
	w.growth.Add = append(w.growth.Add, spec)
	return step{waits: true}, nil
}
