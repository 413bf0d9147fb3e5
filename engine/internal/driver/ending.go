package driver

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// expire fails an attempt whose time limit has passed. If the attempt has a token, expire fails it with a message,
// as another party would. If another party ended or took the attempt first, or sent a heartbeat, expire changes
// nothing.
func (d *Driver) expire(k attempts.Key) error {
	e := d.attempts.Of(k.Unit)
	if e == nil {
		return nil
	}
	if e.Token.ID == "" {
		return d.feed(d.attempts.Expire(e))
	}
	if err := d.flush(); err != nil { // the token may be in the pending checkpoint
		return err
	}
	for {
		if err := d.lookAt(e); err != nil {
			return err
		}
		limit, due := e.Token.Due()
		if limit == storage.NoLimit || due.After(d.Draft.Now) {
			d.attempts.Watch(e)
			return nil
		}
		take := e.Token.Take // the limits of another worker do not end the attempt
		if take == 0 {
			take = storage.Untaken
		}
		end := storage.TokenEnd{Take: take, Beat: e.Token.Beat, Failure: e.Overdue(limit)}
		_, err := d.env.Store.EndToken(d.storing, e.Token.ID, end)
		switch {
		case errors.Is(err, storage.ErrTaken):
		case err != nil && !errors.Is(err, storage.ErrGone):
			return d.Wrap(err)
		default:
			return d.readMessages()
		}
	}
}

// contested reports whether the end of a call may not be the end of its attempt: another party may also end the
// attempt, or no party waits for the attempt any longer.
func (d *Driver) contested(ev *scheduler.Event) bool {
	return !ev.Revert && (d.attempts.Len() > 0 || ev.Unit.Node != nil && ev.Unit.BeginsRun())
}

// contestedEnd processes the end of a contested call. If another party ended the attempt meanwhile, that end
// counts. If another party must end the task, the end of the call does not end the task.
func (d *Driver) contestedEnd(ev scheduler.Event) error {
	u := ev.Unit
	if u.Node != nil && u.BeginsRun() && !u.Awaits() {
		return nil // the run no longer waits for it
	}
	e := d.attempts.Of(u)
	if ev.Kind == scheduler.Completed && e != nil && e.Early == nil && e.Token.ID != "" {
		// From the commit on, no other party can end the attempt. An end that was accepted before is in the inbox.
		d.attempts.Void(e)
		if err := d.flush(); err != nil {
			return err
		}
		if err := d.readAll(); err != nil {
			return err
		}
	}
	switch {
	case e == nil:
	case e.Early != nil:
		if ev.Reports() {
			if err := d.feed(ev); err != nil || d.attempts.Of(u) != e {
				return err
			}
		}
		ev = d.endEarly(e)
	case ev.Kind == scheduler.Completed:
		d.attempts.Close(u.Path, false)
	}
	return d.feed(ev)
}

// endEarly ends an attempt as another party did before the attempt's call ended.
func (d *Driver) endEarly(e *attempts.Attempt) scheduler.Event {
	ev := d.attempts.EndOf(e, e.Early)
	d.attempts.Close(e.Path, true)
	return ev
}

// endExternal ends the attempt that a message is for.
func (d *Driver) endExternal(e *attempts.Attempt, m *storage.Message) error {
	if !e.Awaited() {
		e.Early = m // its call has not ended yet
		return nil
	}
	d.Draft.Take(m.N)
	d.receipt(m.N, true)
	ev := d.attempts.EndOf(e, m)
	d.attempts.Close(e.Path, m.Kind == backend.MessageToken)
	if !e.Revert && e.Grown() != nil && e.BeginsRun() {
		ev.ByToken = true
		if err := d.children.dropChild(e.Unit, ev.Failure == nil); err != nil { // no node waits for the child run
			return err
		}
	}
	return d.feed(ev)
}

// handOver tells the scheduler which calls workers make now.
func (d *Driver) handOver() error {
	for {
		ev, more := d.attempts.HandedOver()
		if !more {
			return nil
		}
		if err := d.feed(ev); err != nil {
			return err
		}
	}
}

// withdraw ends what the scheduler withdraws: from the commit on, no party can end these attempts, and an end that was
// accepted before is in the inbox.
func (d *Driver) withdraw() error {
	list := d.attempts.TakeWithdrawn()
	if len(list) == 0 {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	for _, w := range list {
		if !d.attempts.InQueue(w) {
			continue
		}
		if err := d.lookAt(w.Attempt); err != nil {
			return err
		}
		if w.Token.Take > 0 { // a worker was faster
			d.attempts.Void(w.Attempt)
		}
	}
	if d.Draft.Dirty {
		if err := d.flush(); err != nil {
			return err
		}
	}
	if err := d.advance(list); err != nil {
		return err
	}
	if err := d.follow(0); err != nil {
		return err
	}
	for _, w := range list {
		if !d.attempts.IsOpen(w) { // the attempt has ended
			continue
		}
		if err := d.feed(d.attempts.Withdrawn(w)); err != nil {
			return err
		}
	}
	return nil
}

// lookAt reads the token of an attempt again.
func (d *Driver) lookAt(a *attempts.Attempt) error {
	t, err := d.env.Store.Token(d.storing, a.Token.ID)
	if err == nil {
		a.SetToken(&t)
	}
	return d.Wrap(err)
}

// childEnded ends the atom whose child run has ended, or the revert of that atom.
func (d *Driver) childEnded(m *storage.Message) error {
	t := &d.attempts
	u := t.ParentOf(m.Name)
	known := u != nil
	ev := attempts.RunEnded(u, m)
	if known && (attempts.IsUndone(u) || attempts.ChildOf(u).Reopen && u.Awaits()) {
		var err error
		if known, err = d.endedAgain(&ev, m.Name); err != nil {
			return err
		}
	}
	d.Draft.Take(m.N) // in the commit that has its effect, so after endedAgain, which may commit
	switch {
	case !known:
		return nil
	case attempts.IsUndone(u):
		return d.childUndone(u, m.Name)
	case !u.Awaits():
		return nil
	}
	// Tell the language first that the run exists, if it was not told yet.
	if n := u.Node; n != nil && n.Spec.Report && n.Rec.Result != nil {
		err := d.feed(scheduler.Event{Kind: scheduler.Deferred, Unit: u})
		if err != nil || t.ParentOf(m.Name) != u || !u.Awaits() {
			return err
		}
	}
	t.DropRun(m.Name)
	t.Close(u.Path, false)
	attempts.Fit(&ev, u)
	return d.feed(ev)
}

// childUndone ends the revert of an atom whose child run has ended.
func (d *Driver) childUndone(u *scheduler.Unit, id string) error {
	t := &d.attempts
	t.DropRun(id)
	run, err := d.env.Store.Run(d.storing, id)
	if err != nil {
		return d.Wrap(err)
	}
	ev := attempts.Undone(u)
	if ev.Untaken, err = d.children.didNothing(u, &run); err != nil {
		return err
	}
	if u.Reverts() && run.Undo == storage.UndoFailed {
		ev.Failure = &atom.Failure{
			Atom: u.Path, Code: atom.CodeRevertFailed,
			Message: fmt.Sprintf("the child run %q could not be undone", id),
		}
	}
	return d.feed(ev)
}

// endedAgain reports whether a child run that was reopened, or is undone, has ended since, and sets in the event how. A
// message about its end may be from before: then the run has not ended again, or has not even received the command yet.
func (d *Driver) endedAgain(ev *scheduler.Event, id string) (bool, error) {
	if err := d.flush(); err != nil { // the command may be in the pending checkpoint
		return false, err
	}
	// The inbox first: a run that takes the command between the two looks is seen as open, or as ended again.
	_, messages, err := backend.AllMessages(d.storing, d.env.Store, id)
	if err != nil {
		return false, d.Wrap(err)
	}
	child, err := d.env.Store.Run(d.storing, id)
	if err != nil || !child.State.Ended() {
		return false, d.Wrap(err)
	}
	command := inbox.Retry // the command after which the run will end once more
	if attempts.IsUndone(ev.Unit) {
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
		ev.Result, ev.Failure, ev.RunEnd = child.Output.Data, nil, grow.RunSucceeded
	}
	return true, nil
}
