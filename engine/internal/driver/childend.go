package driver

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/storage"
)

// runEnds is what a run is told about the outcome of its child run.
var runEnds = [...]flow.RunEnd{
	storage.Unfinished: flow.RunOpen, storage.Succeeded: flow.RunSucceeded, storage.FailedOutcome: flow.RunFailed,
	storage.TimedOut: flow.RunTimedOut, storage.Cancelled: flow.RunCancelled, storage.Continued: flow.RunOpen,
}

// runEnd returns how a child run ended, from its message. Messages of earlier versions of Ebb do not say it.
func runEnd(l *storage.Message) (end flow.RunEnd) {
	if err := l.Note.Decode(&end); err == nil && end > flow.RunOpen && end <= flow.RunCancelled {
		return end
	}
	if l.Failure != nil {
		return flow.RunFailed
	}
	return flow.RunSucceeded
}

// tellParent sends the parent run a message about the end of this run.
func (c *children) tellParent() {
	if c.family.parent == "" {
		return
	}
	l := storage.Message{Run: c.family.parent, Kind: messageChild, Name: c.claim.Run, Body: c.next.Head.Output.Data}
	if c.next.Head.Outcome == storage.Continued { // the parent now waits for the successor
		l.Kind = messageContinued
		c.next.Send(l)
		return
	}
	l.Note = atom.MustEncode(runEnds[c.next.Head.Outcome])
	switch {
	case c.next.Head.Outcome != storage.Succeeded:
		l.Failure = c.next.Head.Failure
		if l.Failure == nil {
			l.Failure = &atom.Failure{Code: atom.CodeCancelled}
		}
	case len(l.Body) > atom.MaxValue:
		l.Body = nil
		l.Failure = atom.NewFailure("", 0, atom.ErrValueTooLarge)
	}
	c.next.Send(l)
}

// outputs returns the results of a plan's run for the parent run: an object of its symbols.
func (c *children) outputs() atom.Value {
	symbols := slices.Sorted(c.plan.Symbols)
	args, vals := make([]atom.Arg, len(symbols)), make([]atom.Value, len(symbols))
	for i, symbol := range symbols {
		args[i].Name = symbol
		if v, ok := c.s.Final(symbol); ok {
			vals[i] = v
		}
	}
	return atom.NewValues(args, vals).Object()
}

// checkResult makes an atom of the plan fail if the output of its run cannot be its result.
func (c *children) checkResult(o origin, ev *scheduler.Event) {
	if ev.Failure != nil {
		return
	}
	if ev.Result == nil {
		ev.Result = atom.Null
	}
	if err := fits(&c.plan.Atoms[o.atom], ev.Result); err != nil {
		ev.Result, ev.Failure = nil, &atom.Failure{
			Atom: c.pathOf(o), Attempt: int(c.recordOf(o).Attempt), Code: atom.CodeBadResult,
			Message: clip.Text("the output of the run is no result of the atom: "+err.Error(), atom.MaxFailureText),
		}
	}
}

// within makes the failure of a child run name the atom by its path in this run, which begins with that of the node.
func (c *children) within(o origin, ev *scheduler.Event) {
	if ev.Failure == nil {
		return
	}
	f := *ev.Failure
	if f.Atom != "" {
		f.Atom = "/" + clip.Ends(f.Atom, clip.Path)
	}
	f.Atom = c.pathOf(o) + f.Atom
	ev.Failure = &f
}
