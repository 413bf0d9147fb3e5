package driver

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An ending ends attempts that the Driver's own calls do not end, or not alone: those with a token, and child runs.
type ending struct{ *Driver }

// expire fails an attempt whose time limit has passed. If the attempt has a token, expire fails it with a message,
// as another party would. If another party ended or took the attempt first, or sent a heartbeat, expire changes
// nothing.
func (d ending) expire(k timerKey) error {
	path := k.path(&d.run)
	e := d.tokens.open[path]
	if e == nil {
		return nil
	}
	if e.token.ID == "" {
		f := overdue(&e.token, storage.ScheduleToClose)
		f.Atom, f.Attempt = path, int(d.s.Record(e.atom).Attempt)
		d.tokens.closeToken(path, true)
		return d.feed(scheduler.Event{Kind: scheduler.Completed, Atom: e.atom, Failure: f})
	}
	if err := d.flush(); err != nil { // the token may be in the pending checkpoint
		return err
	}
	for {
		if err := d.tokens.lookAt(e); err != nil {
			return err
		}
		limit, due := e.token.Due()
		if limit == storage.NoLimit || due.After(d.next.Now) {
			d.tokens.watchToken(e)
			return nil
		}
		take := e.token.Take // the limits of another worker do not end the attempt
		if take == 0 {
			take = storage.Untaken
		}
		end := storage.TokenEnd{Take: take, Beat: e.token.Beat, Failure: d.tokens.overdue(e, limit)}
		_, err := d.env.Store.EndToken(d.storing, e.token.ID, end)
		switch {
		case errors.Is(err, storage.ErrTaken):
		case err != nil && !errors.Is(err, storage.ErrGone):
			return WrapStore(d.claim.Run, err)
		default:
			return d.readMessages()
		}
	}
}

// contested reports whether the end of a call may not be the end of its attempt: another party may also end the
// attempt, or no party waits for the attempt any longer.
func (d ending) contested(ev *scheduler.Event) bool {
	return !ev.Revert && (len(d.tokens.open) > 0 || ev.Node != nil && ev.Node.Spec.Kind == flow.Nested)
}

// contestedEnd processes the end of a contested call. If another party ended the attempt meanwhile, that end
// counts. If another party must end the task, the end of the call does not end the task.
func (d ending) contestedEnd(ev scheduler.Event) error {
	if n := ev.Node; n != nil && n.Spec.Kind == flow.Nested && !n.Awaits() {
		return nil // the run no longer waits for it
	}
	path := timerKey{node: ev.Node, atom: ev.Atom}.path(&d.run)
	e := d.tokens.open[path]
	if ev.Kind == scheduler.Completed && e != nil && e.early == nil && e.token.ID != "" {
		// From the commit on, no other party can end the attempt. An end that was accepted before is in the inbox.
		d.tokens.void(e)
		if err := d.flush(); err != nil {
			return err
		}
		if err := d.readAll(); err != nil {
			return err
		}
	}
	switch {
	case e == nil:
	case e.early != nil:
		if ev.Reports() {
			if err := d.feed(ev); err != nil || d.tokens.open[path] != e {
				return err
			}
		}
		ev = d.tokens.endOf(e, e.early)
		d.tokens.closeToken(path, true)
	case ev.Kind == scheduler.Completed:
		d.tokens.closeToken(path, false)
	}
	return d.feed(ev)
}

// endExternal ends the attempt that a message is for.
func (d ending) endExternal(e *external, l *storage.Message) error {
	if !d.tokens.awaits(e) {
		e.early = l // its call has not ended yet
		return nil
	}
	d.next.Take(l.N)
	d.box.answered(&d.run, l.N, true)
	ev := d.tokens.endOf(e, l)
	d.tokens.closeToken(e.path(&d.run), l.Kind == storage.MessageToken)
	if n := e.node; n != nil && n.Spec.Kind == flow.Nested && !e.revert {
		ev.ByToken = true
		if err := d.children.dropChild(origin{n, -1}, ev.Failure == nil); err != nil { // no node waits for the child run
			return err
		}
	}
	return d.feed(ev)
}

// handOver tells the scheduler which calls workers make now. If a call was ended before that, handOver ends it.
func (d ending) handOver() error {
	for len(d.tokens.handOvers) > 0 {
		h := d.tokens.handOvers[0]
		d.tokens.handOvers = d.tokens.handOvers[1:]
		if d.tokens.open[h.path] != h.external { // the attempt was given up meanwhile
			continue
		}
		ev := h.event
		if h.early != nil {
			ev = d.tokens.endOf(h.external, h.early)
			d.tokens.closeToken(h.path, true)
		}
		if err := d.feed(ev); err != nil {
			return err
		}
	}
	return nil
}

// withdraw ends what the scheduler withdraws: from the commit on, no party can end these attempts, and an end that was
// accepted before is in the inbox.
func (d ending) withdraw() error {
	if len(d.tokens.withdrawn) == 0 {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	list := d.tokens.withdrawn
	d.tokens.withdrawn = nil
	for _, w := range list {
		e := w.external
		if !d.tokens.has(w) || e == nil || e.token.Queue == "" || e.token.State != storage.TokenOpen || e.token.Take > 0 {
			continue
		}
		if err := d.tokens.lookAt(e); err != nil {
			return err
		}
		if e.token.State == storage.TokenOpen && e.token.Take > 0 { // a worker was faster
			d.tokens.void(e)
		}
	}
	if d.next.Dirty {
		if err := d.flush(); err != nil {
			return err
		}
	}
	if err := d.hearEnds(list); err != nil {
		return err
	}
	for _, w := range list {
		if !d.tokens.has(w) { // the attempt has ended
			continue
		}
		untaken := w.untaken()
		if untaken { // the commit that says so fails if a party ends the token meanwhile
			d.tokens.shut(w.external)
		}
		err := d.feed(scheduler.Event{Kind: scheduler.Withdrawn, Node: w.key.node, Atom: w.key.atom, Untaken: untaken})
		if err != nil {
			return err
		}
	}
	return nil
}

// childEnded ends the atom whose child run has ended, or the revert of that atom.
func (d ending) childEnded(l *storage.Message) error {
	o, known := d.children.byID[l.Name]
	ev := o.completed()
	ev.Result, ev.Failure, ev.RunEnd = l.Body, l.Failure, runEnd(l)
	if ev.Failure != nil && ev.Failure.Untaken { // that is about a task of the child, which may have done others
		f := *ev.Failure
		f.Untaken = false
		ev.Failure = &f
	}
	if known && (d.children.reverting(o) || d.children.childOf(o).Reopen && d.children.awaits(o)) {
		var err error
		if known, err = d.endedAgain(&ev, l.Name); err != nil {
			return err
		}
	}
	d.next.Take(l.N) // in the commit that has its effect, so after endedAgain, which may commit
	if !known {
		return nil
	}
	switch {
	case d.children.reverting(o):
		delete(d.children.byID, l.Name)
		run, err := d.env.Store.Run(d.storing, l.Name)
		if err != nil {
			return WrapStore(d.claim.Run, err)
		}
		ev = o.undone()
		if ev.Untaken, err = d.children.didNothing(o, &run); err != nil {
			return err
		}
		if d.children.undoes(o) && run.Undo == storage.UndoFailed {
			ev.Failure = &atom.Failure{
				Atom: d.children.pathOf(o), Code: atom.CodeRevertFailed,
				Message: fmt.Sprintf("the child run %q could not be undone", l.Name),
			}
		}
		return d.feed(ev)
	case d.children.awaits(o):
		// Tell the language first that the run exists, if it was not told yet.
		if n := o.node; n != nil && n.Spec.Report && n.Rec.Result != nil {
			if err := d.feed(scheduler.Event{Kind: scheduler.Deferred, Atom: -1, Node: n}); err != nil ||
				d.children.byID[l.Name] != o || !n.Awaits() {
				return err
			}
		}
		delete(d.children.byID, l.Name)
		d.tokens.closeToken(d.children.pathOf(o), false)
		if o.node == nil {
			d.children.within(o, &ev)
			d.children.checkResult(o, &ev)
		}
		return d.feed(ev)
	default:
		return nil
	}
}

// endedAgain reports whether a child run that was reopened, or is undone, has ended since, and sets in the event how. A
// message about its end may be from before: then the run has not ended again, or has not even received the command yet.
func (d ending) endedAgain(ev *scheduler.Event, id string) (bool, error) {
	if err := d.flush(); err != nil { // the command may be in the pending checkpoint
		return false, err
	}
	// The inbox first: a run that takes the command between the two looks is seen as open, or as ended again.
	_, messages, err := storage.AllMessages(d.storing, d.env.Store, id)
	if err != nil {
		return false, WrapStore(d.claim.Run, err)
	}
	child, err := d.env.Store.Run(d.storing, id)
	if err != nil || !child.State.Ended() {
		return false, WrapStore(d.claim.Run, err)
	}
	command := inbox.Retry // the command after which the run will end once more
	if d.children.reverting(origin{ev.Node, ev.Atom}) {
		switch {
		case child.State == states.FlowSuccess:
			command = inbox.Cancel
		case child.Undo == storage.UndoFailed:
			command = inbox.RetryRevert
		default:
			return true, nil // the undo is complete
		}
	}
	if slices.ContainsFunc(messages, func(m storage.Message) bool { return m.Kind == command }) {
		return false, nil
	}
	if child.Outcome == storage.Succeeded && ev.Failure != nil {
		ev.Result, ev.Failure, ev.RunEnd = child.Output.Data, nil, flow.RunSucceeded
	}
	return true, nil
}
