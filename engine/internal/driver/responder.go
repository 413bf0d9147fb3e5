package driver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// requests are the requests that a driver has taken.
type requests struct {
	list     []*Request // not asked about yet
	passed   []*Request // came from other processes, and are not in list yet
	asking   *Request   // the language is being asked about it
	answered []*Request // the answer is in the pending checkpoint
	ended    int        // number of requests that were answered, or cannot be
	unsure   bool       // the store does not know whether it has committed the pending checkpoint
}

// A responder answers the requests to a driven run.
type responder struct{ *Driver }

// takeRequests takes requests that wait for the run, as many as share a commit.
func (d responder) takeRequests() {
	if len(d.box.requests.list) > 0 || d.box.requests.asking != nil || d.cycle.over != nil {
		return
	}
	d.box.requests.list, d.box.requests.passed = d.box.requests.passed, nil
	d.box.requests.list = append(d.box.requests.list, d.env.Requests.Take(d.claim.Run)...)
	if d.env.Requests.waits(d.claim.Run) {
		d.att.look.Store(true)
	}
}

// askNext asks the language about the next request. It reports whether there is one to decide about.
func (d responder) askNext() (asks bool, err error) {
	q := &d.box.requests
	if q.asking != nil {
		if d.ask.left || d.cycle.over != nil { // the question was postponed
			return false, nil
		}
		r := q.asking // the scheduler has dropped the question
		q.asking = nil
		d.unanswered(r, d.cannotAsk(nil))
	}
	for len(q.list) > 0 && !d.ask.left && d.cycle.over == nil {
		r := q.list[0]
		q.list = q.list[1:]
		ev, err := d.question(r)
		if err == nil {
			q.asking = r
			return true, d.feed(ev)
		}
		if !errors.Is(err, ErrBusy) {
			if changed := d.current(); changed != nil {
				err = changed
			}
		}
		if _, store := errors.AsType[*StoreError](err); store {
			d.unanswered(r, nil)
			return false, err
		}
		d.unanswered(r, err)
	}
	return false, nil
}

// current returns a [*StoreError] that wraps [storage.ErrFenced] if the run has changed since the driver loaded it. A
// caller may have seen that change, so no request is refused by the state before it. What is committed needs no such
// check, and the run of a driver that owns it changes only with that driver.
func (d responder) current() error {
	if d.Owns() || d.claim.New != nil {
		return nil
	}
	run, err := d.env.Store.Run(d.storing, d.claim.Run)
	if err == nil && (run.Fence != d.claim.Fence-1 || run.Owner != "" || run.Seq != d.next.Head.Seq ||
		run.Wakeups != d.claim.Wakeups) {
		err = storage.ErrFenced
	}
	if err != nil {
		return WrapStore(d.claim.Run, err)
	}
	return nil
}

// unanswered ends a request that the language was not asked about. If the run is only busy, the request waits.
func (d responder) unanswered(r *Request, why error) {
	busy := why == nil || errors.Is(why, ErrBusy)
	switch {
	case busy && r.message > 0:
		d.box.requests.passed = append(d.box.requests.passed, r)
	case busy:
		d.env.Requests.again(d.claim.Run, []*Request{r})
	case r.message > 0:
		r.Err = why
		d.acknowledge(r)
		d.box.requests.answered = append(d.box.requests.answered, r)
	default:
		d.box.requests.ended++
		r.End(why)
	}
}

// cannotAsk returns why the language cannot be asked now, about the run or about a node.
func (d responder) cannotAsk(n *scheduler.Node) error {
	switch d.s.Answers(n) {
	case scheduler.AnswersNow:
		return nil
	case scheduler.AnswersLater:
		return ErrBusy
	case scheduler.IsHeld:
		return fmt.Errorf("%w: %q", ErrHeld, d.claim.Run)
	default:
		return fmt.Errorf("%w: %q", ErrEnded, d.claim.Run)
	}
}

// question returns the question of a request as an event for the scheduler.
func (d responder) question(r *Request) (ev scheduler.Event, err error) {
	ev.Kind = scheduler.Told
	if r.Kind == AskRun {
		ev.Cause = &flow.Cause{Kind: flow.Asked, Call: true, Name: r.Name, Input: r.Body}
		return ev, d.cannotAsk(nil)
	}
	e := d.tokens.open[r.Token.Path]
	if e == nil || e.token.ID != r.Token.ID {
		return ev, storage.ErrGone
	}
	n := e.node
	if n == nil || e.revert || n.Spec.Kind != flow.Work || !n.Awaits() {
		return ev, ErrNoLanguage
	}
	// Otherwise the token was read with the run, and the commit compares it.
	if d.Owns() || r.fits(&e.token, d.env.Store.Now()) != nil {
		if err := d.tokens.lookAt(e); err != nil {
			return ev, err
		}
	}
	if err := r.fits(&e.token, d.env.Store.Now()); err != nil {
		return ev, err
	}
	if r.Kind == EndTask && r.Failure == nil {
		if err := d.tokens.checkResult(e, valueOf(r.Result)); err != nil {
			return ev, fmt.Errorf("%w: no result of %s: %w", storage.ErrInvalid, n.Path, err)
		}
	}
	ev.Node = n
	ev.Cause = &flow.Cause{
		Kind: flow.Taken, Call: true, Name: n.Spec.Name, Note: n.Spec.Note, Attempt: int(n.Rec.Attempt),
	}
	switch {
	case r.Kind == TakeTask:
		ev.Cause.Result = atom.MustEncode(r.worker())
	case r.Failure != nil:
		f := *r.Failure.Bounded()
		f.Atom, f.Attempt = n.Path, int(n.Rec.Attempt)
		ev.Cause.Kind, ev.Cause.Failure = flow.Failed, &f
	default:
		ev.Cause.Kind, ev.Cause.Result = flow.Ended, valueOf(r.Result)
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
	if r.Taking.Worker == Anonymous {
		return ""
	}
	return r.Taking.Worker
}

// requestAnswered takes the language's answer to the current request: it adds the change of the token to the checkpoint
// in which the answer will be. The scheduler receives the answer next.
func (d responder) requestAnswered(answer *scheduler.Event) {
	r := d.box.requests.asking
	d.box.requests.asking = nil
	d.box.requests.answered = append(d.box.requests.answered, r)
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
	e := d.tokens.open[r.Token.Path]
	switch r.Kind {
	case TakeTask:
		d.taken(r, e, answer.Growth.Note)
	case EndTask:
		ended := e.token
		ended.State, ended.Result, ended.Failure = storage.TokenCompleted, r.Result, nil
		if r.Failure != nil {
			ended.State, ended.Result, ended.Failure = storage.TokenFailed, nil, r.Failure.Bounded()
		}
		d.next.Use(storage.TokenUse{Token: ended, Was: ended.Take})
		d.tokens.closeToken(r.Token.Path, true)
	case AskRun:
	}
}

// taken gives the work of a token to the worker of a request.
func (d responder) taken(r *Request, e *external, note atom.Value) {
	t, now := &e.token, d.next.Now
	was := t.Take
	t.Worker, t.Beat, t.Since, t.Lease = r.Taking.Worker, now, now, time.Time{}
	if r.Taking.Lease > 0 {
		t.Lease = now.Add(r.Taking.Lease)
	}
	t.Take++
	d.next.Use(storage.TokenUse{Token: *t, Was: was})
	d.tokens.watchToken(e)
	r.Token, r.Input, r.Note, r.Attempt = *t, e.node.Spec.Input, e.node.Spec.Note, int(e.node.Rec.Attempt)
	if note != nil {
		r.Note = note
	}
}

// giveUp tells the workers of nodes to give their tasks up.
func (d responder) giveUp(scope *scheduler.Scope, names []string) {
	for _, name := range names {
		if e := d.tokens.open[scope.Inside(name)]; e != nil && e.token.ID != "" {
			d.next.GiveUp, d.next.Dirty = append(d.next.GiveUp, e.token.ID), true
		}
	}
}

// deliver gives the answers to the callers: they are durable now.
func (d responder) deliver() {
	for _, r := range d.box.requests.answered {
		r.End(r.Err)
	}
	d.box.requests.ended += len(d.box.requests.answered)
	clear(d.box.requests.answered)
	d.box.requests.answered = d.box.requests.answered[:0]
}

// leaveRequests ends the driver's part in the requests that it has taken. Those that are not committed wait for the
// next driver, unless the store failed.
func (d responder) leaveRequests(why error) {
	q := &d.box.requests
	open := q.answered
	if q.asking != nil {
		open = append(open, q.asking)
	}
	open = append(open, q.list...)
	q.answered, q.asking, q.list, q.passed = nil, nil, nil, nil
	open = slices.DeleteFunc(open, func(r *Request) bool { return r.message > 0 }) // their messages wait
	store, failed := errors.AsType[*StoreError](why)
	switch {
	case q.unsure:
		why = fmt.Errorf("engine: run %q: %w", d.claim.Run, storage.ErrUnsure)
	case failed && !errors.Is(store, storage.ErrFenced) && !errors.Is(store, storage.ErrTaken):
	default:
		for _, r := range open {
			r.Reply, r.Refused, r.Err = nil, nil, nil
		}
		d.env.Requests.again(d.claim.Run, open)
		return
	}
	for _, r := range open {
		r.End(why)
	}
}
