package driver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// requests are the requests that a driver has taken.
type requests struct {
	list     []*Request // not asked about yet
	passed   []*Request // came from other processes, and are not in list yet
	asking   *Request   // the language is being asked about it
	answered []*Request // the answer is in the pending checkpoint
	ended    int        // number of requests that were answered, or cannot be
}

// takeRequests takes requests that wait for the run, as many as share a commit.
func (d *Driver) takeRequests() {
	if len(d.requests.list) > 0 || d.requests.asking != nil || d.cycle.over != nil {
		return
	}
	d.requests.list, d.requests.passed = d.requests.passed, nil
	d.requests.list = append(d.requests.list, d.env.Requests.Take(d.Claim.Run)...)
	if d.env.Requests.waits(d.Claim.Run) {
		d.att.look.Store(true)
	}
}

// askNext asks the language about the next request. It reports whether there is one to decide about.
func (d *Driver) askNext() (asks bool, err error) {
	q := &d.requests
	if q.asking != nil {
		if d.ask.postponed || d.cycle.over != nil { // the question was postponed
			return false, nil
		}
		r := q.asking // the scheduler has dropped the question
		q.asking = nil
		d.unanswered(r, d.cannotAsk(nil))
	}
	for len(q.list) > 0 && !d.ask.postponed && d.cycle.over == nil {
		r := q.list[0]
		q.list = q.list[1:]
		ev, err := d.question(r)
		if err == nil {
			q.asking = r
			return true, d.feed(ev)
		}
		if !errors.Is(err, ErrBusy) {
			// A caller may have seen a change, so no request is refused by the state before it.
			if changed := d.CheckUnchanged(d.storing); changed != nil {
				err = changed
			}
		}
		if _, store := errors.AsType[*session.StoreError](err); store {
			d.unanswered(r, nil)
			return false, err
		}
		d.unanswered(r, err)
	}
	return false, nil
}

// unanswered ends a request that the language was not asked about. If the run is only busy, the request waits.
func (d *Driver) unanswered(r *Request, why error) {
	busy := why == nil || errors.Is(why, ErrBusy)
	switch {
	case busy && r.message > 0:
		d.requests.passed = append(d.requests.passed, r)
	case busy:
		d.env.Requests.again(d.Claim.Run, []*Request{r})
	case r.message > 0:
		r.Err = why
		d.acknowledge(r)
		d.requests.answered = append(d.requests.answered, r)
	default:
		d.requests.ended++
		r.End(why)
	}
}

// cannotAsk returns why the language cannot be asked now, about the run or about a node.
func (d *Driver) cannotAsk(n *scheduler.Node) error {
	switch d.s.Answers(n) {
	case scheduler.AnswersNow:
		return nil
	case scheduler.AnswersLater:
		return ErrBusy
	case scheduler.IsHeld:
		return fmt.Errorf("%w: %q", ErrHeld, d.Claim.Run)
	default:
		return fmt.Errorf("%w: %q", ErrEnded, d.Claim.Run)
	}
}

// question returns the question of a request as an event for the scheduler.
func (d *Driver) question(r *Request) (ev scheduler.Event, err error) {
	ev.Kind = scheduler.Told
	if r.Kind == AskRun {
		ev.Cause = &grow.Cause{Kind: grow.Asked, Call: true, Name: r.Name, Input: r.Body}
		return ev, d.cannotAsk(nil)
	}
	e := d.attempts.At(r.Token.Path)
	if e == nil || e.Token.ID != r.Token.ID {
		return ev, storage.ErrGone
	}
	n := e.Grown()
	if n == nil || e.Revert || n.Spec.Kind != grow.Work || !n.Awaits() {
		return ev, ErrNoLanguage
	}
	// Otherwise the token was read with the run, and the commit compares it.
	if d.Owns() || r.fits(&e.Token, d.env.Store.Now()) != nil {
		if err := d.lookAt(e); err != nil {
			return ev, err
		}
	}
	if err := r.fits(&e.Token, d.env.Store.Now()); err != nil {
		return ev, err
	}
	if r.Kind == EndTask && r.Failure == nil {
		if err := d.attempts.CheckResult(e, attempts.ValueOf(r.Result)); err != nil {
			return ev, fmt.Errorf("%w: no result of %s: %w", storage.ErrInvalid, n.Path, err)
		}
	}
	ev.Unit = e.Unit
	ev.Cause = &grow.Cause{
		Kind: grow.Taken, Call: true, Name: n.Spec.Name, Note: n.Spec.Note, Attempt: int(n.Rec.Attempt),
	}
	switch {
	case r.Kind == TakeTask:
		ev.Cause.Result = atom.MustEncode(r.worker())
	case r.Failure != nil:
		f := *r.Failure.Bounded()
		f.Atom, f.Attempt = n.Path, int(n.Rec.Attempt)
		ev.Cause.Kind, ev.Cause.Failure = grow.Failed, &f
	default:
		ev.Cause.Kind, ev.Cause.Result = grow.Ended, attempts.ValueOf(r.Result)
	}
	return ev, d.cannotAsk(n)
}

// fits returns why the token of a request cannot be taken or ended.
func (r *Request) fits(t *storage.Token, now time.Time) error {
	switch {
	case t.State != storage.TokenOpen:
		return storage.ErrGone
	case r.Kind == EndTask && r.Take != 0 && r.Take != t.Take,
		r.Kind == TakeTask && t.Worker != "" && (t.Lease.IsZero() || t.Lease.After(now)):
		return storage.ErrTaken
	default:
		return nil
	}
}

func (r *Request) worker() string {
	if r.Taking.Worker == backend.Anonymous {
		return ""
	}
	return r.Taking.Worker
}

// requestAnswered takes the language's answer to the current request: it adds the change of the token to the checkpoint
// in which the answer will be. The scheduler receives the answer next.
func (d *Driver) requestAnswered(answer *scheduler.Event) {
	r := d.requests.asking
	d.requests.asking = nil
	d.requests.answered = append(d.requests.answered, r)
	defer d.acknowledge(r)
	switch g := answer.Growth; {
	case answer.Kind == scheduler.Exceeded, answer.Failure != nil:
		r.Err = answer.Failure
		answer.Cause = nil
		return
	case g.Refuse != nil:
		r.Refused = g.Refuse
		return
	default:
		r.Reply = g.Reply
	}
	e := d.attempts.At(r.Token.Path)
	switch r.Kind {
	case TakeTask:
		d.taken(r, e, answer.Growth.Note)
	case EndTask:
		ended := e.Token
		ended.State, ended.Result, ended.Failure = storage.TokenCompleted, r.Result, nil
		if r.Failure != nil {
			ended.State, ended.Result, ended.Failure = storage.TokenFailed, nil, r.Failure.Bounded()
		}
		d.Draft.Use(backend.TokenUse{Token: ended, Was: ended.Take})
		d.attempts.Close(r.Token.Path, true)
	case AskRun:
	}
}

// taken gives the work of a token to the worker of a request.
func (d *Driver) taken(r *Request, e *attempts.Attempt, note atom.Value) {
	t, now := &e.Token, d.Draft.Now
	was := t.Take
	t.Worker, t.Beat, t.Since, t.Lease = r.Taking.Worker, now, now, time.Time{}
	if r.Taking.Lease > 0 {
		t.Lease = now.Add(r.Taking.Lease)
	}
	t.Take++
	d.Draft.Use(backend.TokenUse{Token: *t, Was: was})
	d.attempts.Watch(e)
	r.Token, r.Input, r.Note, r.Attempt = *t, e.Node.Spec.Input, e.Node.Spec.Note, int(e.Node.Rec.Attempt)
	if note != nil {
		r.Note = note
	}
}

// giveUp tells the workers of nodes to give their tasks up.
func (d *Driver) giveUp(scope *scheduler.Scope, names []string) {
	for _, name := range names {
		if e := d.attempts.At(scope.Inside(name)); e != nil && e.Token.ID != "" {
			d.Draft.GiveUp, d.Draft.Dirty = append(d.Draft.GiveUp, e.Token.ID), true
		}
	}
}

// deliver gives the answers to the callers: they are durable now.
func (d *Driver) deliver() {
	for _, r := range d.requests.answered {
		r.End(r.Err)
	}
	d.requests.ended += len(d.requests.answered)
	clear(d.requests.answered)
	d.requests.answered = d.requests.answered[:0]
}

// leaveRequests ends the driver's part in the requests that it has taken. Those that are not committed wait for the
// next driver, unless the store failed.
func (d *Driver) leaveRequests(why error) {
	q := &d.requests
	open := q.answered
	if q.asking != nil {
		open = append(open, q.asking)
	}
	open = append(open, q.list...)
	q.answered, q.asking, q.list, q.passed = nil, nil, nil, nil
	open = slices.DeleteFunc(open, func(r *Request) bool { return r.message > 0 }) // their messages wait
	store, failed := errors.AsType[*session.StoreError](why)
	switch {
	case d.Unsure():
		why = fmt.Errorf("engine: run %q: %w", d.Claim.Run, storage.ErrUnsure)
	case failed && !errors.Is(store, storage.ErrFenced) && !errors.Is(store, storage.ErrTaken):
	default:
		for _, r := range open {
			r.Reply, r.Refused, r.Err = nil, nil, nil
		}
		d.env.Requests.again(d.Claim.Run, open)
		return
	}
	for _, r := range open {
		r.End(why)
	}
}
