package driver

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/storage"
)

// newToken returns a token that nobody can guess: 130 random bits.
func newToken() string { return rand.Text() }

// An external is an attempt that may be ended from outside the run, with the token
// or signal that ends it.
type external struct {
	timerKey

	token  storage.Token    // as it was last seen, without what it holds; its ID is "" when only a signal ends it
	signal string           // name of the signal that ends it; "" when none does
	early  *storage.Message // what ended it before its own call has, or before it is known whose it is
	revert bool             // it undoes; the scheduler knows that it waits
}

// nobodys is what attempts have that were loaded, before it is known that they are
// still wanted: reverts of grown nodes.
var nobodys = timerKey{atom: -1}

// openToken gives the attempt that a command begins its token. One that is begun
// again, because its process died, keeps what it had.
func (d *Driver) openToken(cmd *scheduler.Command) *external {
	var limit time.Duration
	var e *external // made only for an attempt that has a token or a signal, as most have none
	if n := cmd.Node; n != nil {
		if n.Spec.Token == "" {
			return nil
		}
		limit = n.Spec.Timeout
		e = &external{timerKey: keyOf(cmd)}
		e.token.ID, e.token.Heartbeat = n.Spec.Token, n.Spec.Heartbeat
		if e.token.Queue = queueOf(n); e.token.Queue != "" {
			e.token.ScheduleToStart, e.token.StartToClose = n.Spec.ToStart, n.Spec.ToClose
		}
	} else {
		a := &d.plan.Atoms[cmd.Atom]
		def := a.Deferral()
		if def == nil {
			return nil
		}
		limit = def.Deadline
		e = &external{timerKey: keyOf(cmd)}
		if e.signal = a.Signal(); e.signal == "" {
			e.token.ID, e.token.Heartbeat = newToken(), def.Heartbeat
		}
	}
	path := e.path(d)
	if had := d.external[path]; had != nil && (cmd.Node == nil || had.token.ID == e.token.ID) {
		had.timerKey = e.timerKey
		return had
	}
	d.waitFor(e, path, limit)
	if e.token.ID == "" {
		d.awaited = len(d.unread) > 0
		return e
	}
	e.token.Incarnation, e.token.Attempt = int(cmd.Rec.Incarnation), int(cmd.Rec.Attempt)
	d.next.Token(e.token)
	return e
}

// waitFor lets an attempt be waited for from now on.
func (d *Driver) waitFor(e *external, path string, limit time.Duration) {
	t := &e.token
	t.Run, t.Path, t.Beat, t.Since = d.claim.Run, path, d.next.Now, d.next.Now
	if limit > 0 {
		t.Deadline = d.next.Now.Add(limit)
	}
	d.external[path] = e
	d.watchToken(e)
}

// queueOf returns where workers find the work of a node that calls nobody.
func queueOf(n *scheduler.Node) string {
	if n == nil || n.Spec.Task != "" {
		return ""
	}
	return n.Spec.Queue
}

// watchToken sets the timer for when the first of the token's limits passes.
func (d *Driver) watchToken(e *external) {
	if e.timerKey == nobodys {
		return
	}
	k := e.tokenKey()
	switch limit, due := e.token.Due(); {
	case limit != storage.NoLimit:
		d.timers.set(k, due)
		d.next.Timer(k.path(d), storage.TimerToken, due)
	case d.timers.has(k):
		d.timers.drop(k)
		d.next.Timer(k.path(d), storage.TimerToken, time.Time{})
	}
}

func (e *external) tokenKey() timerKey { return timerKey{node: e.node, atom: e.atom, token: true} }

// closeToken lets nobody end the attempt from elsewhere any more.
func (d *Driver) closeToken(path string, used bool) {
	e := d.external[path]
	if e == nil {
		return
	}
	delete(d.external, path)
	if k := e.tokenKey(); d.timers.has(k) {
		d.timers.drop(k)
		d.next.Timer(path, storage.TimerToken, time.Time{})
	}
	if !used && e.token.ID != "" {
		d.next.Token(storage.Token{ID: e.token.ID, Run: d.claim.Run, Path: path, State: storage.TokenGone})
	}
	if e.early != nil {
		d.next.Take(e.early.N)
	}
}

// expire fails an attempt whose time is up. One that has a token is failed as
// anybody else would: by a message; nothing is done when somebody was faster, or has
// taken it or was heard of meanwhile.
func (d *Driver) expire(k timerKey) error {
	path := k.path(d)
	e := d.external[path]
	if e == nil {
		return nil
	}
	if e.token.ID == "" {
		f := overdue(&e.token, storage.ScheduleToClose)
		f.Attempt = int(d.s.Record(e.atom).Attempt)
		d.closeToken(path, true)
		return d.feed(scheduler.Event{Kind: scheduler.Completed, Atom: e.atom, Failure: f})
	}
	if err := d.flush(); err != nil { // the token may be in the checkpoint that is being gathered
		return err
	}
	for {
		if err := d.lookAt(e); err != nil {
			return err
		}
		limit, due := e.token.Due()
		if limit == storage.NoLimit || due.After(d.next.Now) {
			d.watchToken(e)
			return nil
		}
		take := e.token.Take // which another worker's limits do not end
		if take == 0 {
			take = storage.Untaken
		}
		_, err := d.env.Store.FinishToken(d.storing, e.token.ID, take, nil, overdue(&e.token, limit))
		switch {
		case errors.Is(err, storage.ErrTaken):
		case err != nil && !errors.Is(err, storage.ErrGone):
			return storeError(d.claim.Run, err)
		default:
			return d.readMessages()
		}
	}
}

// lookAt reads the token of an attempt anew.
func (d *Driver) lookAt(e *external) error {
	t, err := d.env.Store.Token(d.storing, e.token.ID)
	if err != nil {
		return storeError(d.claim.Run, err)
	}
	e.token = seen(&t)
	return nil
}

// seen returns what a driver keeps of a token.
func seen(t *storage.Token) storage.Token {
	kept := *t
	kept.Work, kept.Result, kept.Failure = nil, nil, nil
	return kept
}

// overdue returns with what an attempt fails of whose token that limit has passed.
func overdue(t *storage.Token, limit storage.TokenLimit) *atom.Failure {
	f := &atom.Failure{Atom: t.Path, Attempt: t.Attempt}
	switch limit {
	case storage.ScheduleToStart:
		f.Code, f.Message = atom.CodeScheduleToStart, fmt.Sprintf("no worker took the work within %v", t.ScheduleToStart)
	case storage.StartToClose:
		f.Code, f.Message = atom.CodeStartToClose, fmt.Sprintf("the worker %q, who had taken the work, did not end it within %v", t.Worker, t.StartToClose)
	case storage.HeartbeatLimit:
		f.Code, f.Message = atom.CodeHeartbeatLost, fmt.Sprintf("nothing was heard for %v", t.Heartbeat)
	default:
		f.Code, f.Message = atom.CodeTimeout, "nobody ended the attempt in time"
	}
	return f
}

// loadTokens takes up the tokens that are open, or were used: then a message says
// so.
func (d *Driver) loadTokens(snap *storage.Snapshot, targets map[string]timerKey) {
	for i := range snap.Tokens {
		d.loadToken(&snap.Tokens[i], targets)
	}
	open := maps.Clone(d.external)
	for i := range snap.Messages {
		if l := &snap.Messages[i]; l.Kind == storage.MessageToken && open[l.Path] == nil { // else an earlier attempt's
			d.loadToken(&storage.Token{ID: l.Name, Path: l.Path}, targets)
		}
	}
}

func (d *Driver) loadToken(t *storage.Token, targets map[string]timerKey) {
	k, ok := targets[t.Path]
	if i := d.plan.Index(t.Path); !ok && i >= 0 && !d.Grows() {
		k = timerKey{atom: i}
	} else if !ok {
		k = nobodys
	}
	e := &external{timerKey: k, token: seen(t)}
	if k.atom >= 0 && k.node == nil {
		e.signal = d.plan.Atoms[k.atom].Signal()
	}
	d.external[t.Path] = e
}

// loadSignals takes up the atoms that a signal ends, and nobody else.
func (d *Driver) loadSignals() {
	for i := range d.plan.Atoms {
		a := &d.plan.Atoms[i]
		if name := a.Name(); a.Signal() != "" && d.s.Record(int32(i)).Awaits() && d.external[name] == nil {
			d.external[name] = &external{timerKey: timerKey{atom: int32(i)}, signal: a.Signal()}
		}
	}
}

// callEnded takes in the end of a call. When the attempt was ended from elsewhere
// meanwhile, that counts. A call of a task that others are to end is not its end.
func (d *Driver) callEnded(ev scheduler.Event) error {
	if n := ev.Node; n != nil && n.Spec.Kind == flow.Nested && !ev.Revert && !n.Awaits() {
		return nil // it is not waited for any more
	}
	if ev.Revert || len(d.external) == 0 {
		return d.feed(ev)
	}
	path := timerKey{node: ev.Node, atom: ev.Atom}.path(d)
	e := d.external[path]
	switch {
	case e == nil:
	case e.early != nil:
		if ev.Reports() {
			if err := d.feed(ev); err != nil || d.external[path] != e {
				return err
			}
		}
		ev = d.endOf(e, e.early)
		d.closeToken(path, true)
	case ev.Kind == scheduler.Completed:
		d.closeToken(path, false)
	}
	return d.feed(ev)
}

// endOf returns the event that a message is which ends the attempt. A result that
// the task cannot have fails it.
func (d *Driver) endOf(e *external, l *storage.Message) scheduler.Event {
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: e.atom, Node: e.node, Revert: e.revert, Result: l.Body, Failure: l.Failure}
	if ev.Failure != nil {
		return ev
	}
	if ev.Result == nil {
		ev.Result = atom.Null
	}
	if e.node == nil && !e.revert {
		if err := d.plan.Atoms[e.atom].CheckResult(ev.Result); err != nil {
			ev.Result, ev.Failure = nil, &atom.Failure{
				Atom: e.path(d), Attempt: int(d.s.Record(e.atom).Attempt), Code: atom.CodeBadResult,
				Message: clip.Text(fmt.Sprintf("the %s that ended the attempt carries no result of it: %v", l.Kind, err), atom.MaxFailureText),
			}
		}
	}
	return ev
}

// endExternal ends the attempt that a message is for. It reports false when
// there is none, and the message may stay.
func (d *Driver) endExternal(e *external, l *storage.Message) (bool, error) {
	if !d.awaits(e) {
		if e.early != nil {
			return false, nil
		}
		e.early = l // its call has not ended yet
		return true, nil
	}
	d.next.Take(l.N)
	ev := d.endOf(e, l)
	d.closeToken(e.path(d), l.Kind == storage.MessageToken)
	if n := e.node; n != nil && n.Spec.Kind == flow.Nested && !e.revert {
		ev.ByToken = true
		if err := d.dropChild(n, ev.Failure == nil); err != nil { // what is not waited for any longer need not go on
			return true, err
		}
	}
	return true, d.feed(ev)
}

func (d *Driver) awaits(e *external) bool {
	switch {
	case e.revert:
		return true
	case e.node != nil:
		return e.node.Awaits()
	case e.atom < 0:
		return false
	}
	return d.s.Record(e.atom).Awaits()
}
