package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// newToken returns a token that nobody can guess: 130 random bits.
func newToken() string { return rand.Text() }

// elsewhere is an attempt that may be ended from elsewhere, and under what.
type elsewhere struct {
	timerKey

	token     string // "" when only a letter ends it
	signal    string // name of the signal that ends it; "" when none does
	deadline  time.Time
	heartbeat time.Duration
	beat      time.Time       // when it was last heard of, as it was loaded
	early     *storage.Letter // what ended it before its own call has, or before it is known whose it is
	revert    bool            // it undoes; the scheduler knows that it waits
}

// nobodys is what attempts have that were loaded, before it is known that they are
// still wanted: reverts of grown nodes.
var nobodys = timerKey{atom: -1}

// openToken gives the attempt that a command begins its token. One that is begun
// again, because its process died, keeps what it had.
func (d *driver) openToken(cmd *scheduler.Command) *elsewhere {
	var limit time.Duration
	var e *elsewhere
	if n := cmd.Node; n != nil {
		if n.Spec.Token == "" {
			return nil
		}
		e = &elsewhere{timerKey: keyOf(cmd), token: n.Spec.Token, heartbeat: n.Spec.Heartbeat}
		limit = n.Spec.Timeout
	} else {
		a := &d.plan.Atoms[cmd.Atom]
		def := a.Deferral()
		if def == nil {
			return nil
		}
		e = &elsewhere{timerKey: keyOf(cmd)}
		limit = def.Deadline
		if e.signal = a.Signal(); e.signal == "" {
			e.token, e.heartbeat = newToken(), def.Heartbeat
		}
	}
	path := e.path(d)
	if had := d.elsewhere[path]; had != nil && (cmd.Node == nil || had.token == e.token) {
		had.timerKey = e.timerKey
		return had
	}
	if limit > 0 {
		e.deadline = d.now.Add(limit)
	}
	d.elsewhere[path] = e
	d.watchToken(e, d.now)
	if e.token == "" {
		d.awaited = len(d.unread) > 0
		return e
	}
	d.cp.Tokens = append(d.cp.Tokens, storage.Token{
		ID: e.token, Run: d.claim.Run, Path: path, Incarnation: int(cmd.Rec.Incarnation), Attempt: int(cmd.Rec.Attempt),
		Deadline: e.deadline, Heartbeat: e.heartbeat, Beat: d.now, Queue: queueOf(cmd.Node),
	})
	d.dirty = true
	return e
}

// queueOf returns where workers find the work of a node that calls nobody.
func queueOf(n *scheduler.Node) string {
	if n == nil || n.Spec.Task != "" {
		return ""
	}
	return n.Spec.Queue
}

// watchToken sets the timer for when the token's time is up, if nobody is heard
// of any more.
func (d *driver) watchToken(e *elsewhere, beat time.Time) {
	due := e.deadline
	if e.heartbeat > 0 {
		if silent := beat.Add(e.heartbeat); due.IsZero() || silent.Before(due) {
			due = silent
		}
	}
	if !due.IsZero() {
		k := e.tokenKey()
		d.timers.set(k, due)
		d.keepTimer(k.path(d), storage.TimerToken, due)
	}
}

func (e *elsewhere) tokenKey() timerKey { return timerKey{node: e.node, atom: e.atom, token: true} }

// closeToken lets nobody end the attempt from elsewhere any more.
func (d *driver) closeToken(path string, used bool) {
	e := d.elsewhere[path]
	if e == nil {
		return
	}
	delete(d.elsewhere, path)
	if k := e.tokenKey(); d.timers.has(k) {
		d.timers.drop(k)
		d.keepTimer(path, storage.TimerToken, time.Time{})
	}
	if !used && e.token != "" {
		d.cp.Tokens = append(d.cp.Tokens, storage.Token{ID: e.token, Run: d.claim.Run, Path: path, State: storage.TokenGone})
		d.dirty = true
	}
	if e.early != nil {
		d.taken(e.early.N)
	}
}

// expire fails an attempt whose time is up. One that has a token is failed as
// anybody else would: by a letter; nothing is done when somebody was faster, or was
// heard of meanwhile.
func (d *driver) expire(k timerKey) error {
	path := k.path(d)
	e := d.elsewhere[path]
	if e == nil {
		return nil
	}
	f := &atom.Failure{Atom: path, Code: atom.CodeTimeout, Message: "nobody ended the attempt in time"}
	if e.token == "" {
		f.Attempt = int(d.s.Record(e.atom).Attempt)
		d.closeToken(path, true)
		return d.feed(scheduler.Event{Kind: scheduler.Completed, Atom: e.atom, Failure: f})
	}
	t, err := d.e.store.Token(d.storing, e.token)
	if err != nil {
		return d.storeError(err)
	}
	f.Attempt = t.Attempt
	switch {
	case !e.deadline.IsZero() && !e.deadline.After(d.now):
	case e.heartbeat > 0 && !t.Beat.Add(e.heartbeat).After(d.now):
		f.Code, f.Message = atom.CodeHeartbeatLost, fmt.Sprintf("nothing was heard for %v", e.heartbeat)
	default:
		d.watchToken(e, t.Beat)
		return nil
	}
	if err := d.flush(); err != nil { // the token may be in the checkpoint that is being gathered
		return err
	}
	if _, err := d.e.store.EndToken(d.storing, e.token, nil, f); err != nil && !errors.Is(err, storage.ErrGone) {
		return d.storeError(err)
	}
	return d.readLetters()
}

// loadTokens takes up the tokens that are open, or were used: then a letter says
// so.
func (d *driver) loadTokens(snap *storage.Snapshot, targets map[string]timerKey) {
	for i := range snap.Tokens {
		d.loadToken(&snap.Tokens[i], targets)
	}
	open := maps.Clone(d.elsewhere)
	for i := range snap.Letters {
		if l := &snap.Letters[i]; l.Kind == storage.LetterToken && open[l.Path] == nil { // else an earlier attempt's
			d.loadToken(&storage.Token{ID: l.Name, Path: l.Path}, targets)
		}
	}
}

func (d *driver) loadToken(t *storage.Token, targets map[string]timerKey) {
	k, ok := targets[t.Path]
	if i := d.plan.Index(t.Path); !ok && i >= 0 && !d.grows() {
		k = timerKey{atom: i}
	} else if !ok {
		k = nobodys
	}
	e := &elsewhere{timerKey: k, token: t.ID, deadline: t.Deadline, heartbeat: t.Heartbeat, beat: t.Beat}
	if k.atom >= 0 && k.node == nil {
		e.signal = d.plan.Atoms[k.atom].Signal()
	}
	d.elsewhere[t.Path] = e
}

// loadSignals takes up the atoms that a signal ends, and nobody else.
func (d *driver) loadSignals() {
	for i := range d.plan.Atoms {
		a := &d.plan.Atoms[i]
		if name := a.Name(); a.Signal() != "" && d.s.Record(int32(i)).Awaits() && d.elsewhere[name] == nil {
			d.elsewhere[name] = &elsewhere{timerKey: timerKey{atom: int32(i)}, signal: a.Signal()}
		}
	}
}

// callEnded takes in the end of a call. When the attempt was ended from elsewhere
// meanwhile, that counts. A call of a task that others are to end is not its end.
func (d *driver) callEnded(ev scheduler.Event) error {
	if n := ev.Node; n != nil && n.Spec.Kind == flow.Nested && !ev.Revert && !n.Awaits() {
		return nil // it is not waited for any more
	}
	if ev.Revert || len(d.elsewhere) == 0 {
		return d.feed(ev)
	}
	path := timerKey{node: ev.Node, atom: ev.Atom}.path(d)
	e := d.elsewhere[path]
	switch {
	case e == nil:
	case e.early != nil:
		if ev.Reports() {
			if err := d.feed(ev); err != nil || d.elsewhere[path] != e {
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

// endOf returns the event that a letter is which ends the attempt. A result that
// the task cannot have fails it.
func (d *driver) endOf(e *elsewhere, l *storage.Letter) scheduler.Event {
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
				Message: clip(fmt.Sprintf("the %s that ended the attempt carries no result of it: %v", l.Kind, err)),
			}
		}
	}
	return ev
}

// endElsewhere ends the attempt that a letter is for. It reports false when
// there is none, and the letter may stay.
func (d *driver) endElsewhere(e *elsewhere, l *storage.Letter) (bool, error) {
	if !d.awaits(e) {
		if e.early != nil {
			return false, nil
		}
		e.early = l // its call has not ended yet
		return true, nil
	}
	d.taken(l.N)
	ev := d.endOf(e, l)
	d.closeToken(e.path(d), l.Kind == storage.LetterToken)
	if n := e.node; n != nil && n.Spec.Kind == flow.Nested && !e.revert {
		ev.ByToken = true
		if err := d.dropChild(n, ev.Failure == nil); err != nil { // what is not waited for any longer need not go on
			return true, err
		}
	}
	return true, d.feed(ev)
}

func (d *driver) awaits(e *elsewhere) bool {
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
