package driver

import (
	"fmt"
	"maps"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/tasktoken"
	"github.com/ebbflow/ebb/storage"
)

// An external is an attempt that a party outside the run may end, with the token or signal that ends it.
type external struct {
	timerKey

	token  storage.Token    // as last read, without its values; ID is "" if only a signal ends the attempt
	signal string           // name of the signal that ends it; "" if none does
	early  *storage.Message // the end that arrived before the attempt's own call ended, or before its atom was known
	revert bool             // the attempt is a revert; the scheduler knows that it waits
}

// nobodys is the key of loaded attempts whose scheduler node is not known yet: reverts of grown nodes, which may no
// longer be needed.
var nobodys = timerKey{atom: -1}

// tokens are the attempts that parties outside the run may end.
type tokens struct {
	*run

	timers    *timers
	box       *box
	open      map[string]*external // by path
	handOvers []handOver           // calls handed to workers that the scheduler was not told of yet
	withdrawn []withdrawn          // attempts whose work is withdrawn, of which the scheduler was not told yet
}

// openToken creates the token of the attempt that a command starts. An attempt that starts again, because its
// process died, keeps its token.
func (ts *tokens) openToken(cmd *scheduler.Command) *external {
	var limit time.Duration
	var e *external // allocated only for an attempt with a token or a signal, because most have none
	if n := cmd.Node; n != nil {
		if n.Spec.Token == "" {
			return nil
		}
		limit = n.Spec.Timeout
		e = &external{timerKey: keyOf(cmd)}
		e.token.ID, e.token.Heartbeat = n.Spec.Token, n.Spec.Heartbeat
		if e.token.Queue = queueOf(n); e.token.Queue != "" {
			e.token.Priority = n.Spec.Priority
			e.token.ScheduleToStart, e.token.StartToClose = n.Spec.ToStart, n.Spec.ToClose
		}
	} else {
		a := &ts.plan.Atoms[cmd.Atom]
		def := a.Deferral()
		if def == nil {
			return nil
		}
		limit = def.Deadline
		e = &external{timerKey: keyOf(cmd)}
		if e.signal = a.Signal(); e.signal == "" {
			e.token.ID, e.token.Heartbeat = tasktoken.New(), def.Heartbeat
		}
	}
	path := e.path(ts.run)
	if had := ts.open[path]; had != nil && (cmd.Node == nil || had.token.ID == e.token.ID) {
		had.timerKey = e.timerKey
		return had
	}
	ts.waitFor(e, path, limit)
	if e.token.ID == "" {
		ts.box.awaited = len(ts.box.unread) > 0
		return e
	}
	e.token.Incarnation, e.token.Attempt = int(cmd.Rec.Incarnation), int(cmd.Rec.Attempt)
	if e.token.Queue != "" {
		ts.s.MarkQueued(cmd.Node, cmd.Atom)
	}
	ts.next.Token(e.token)
	return e
}

// waitFor makes the run wait for an attempt.
func (ts *tokens) waitFor(e *external, path string, limit time.Duration) {
	t := &e.token
	t.Run, t.Path, t.Beat, t.Since = ts.claim.Run, path, ts.next.Now, ts.next.Now
	if limit > 0 {
		t.Deadline = ts.next.Now.Add(limit)
	}
	ts.open[path] = e
	ts.watchToken(e)
}

// queueOf returns the queue in which workers find the work of a node that makes no call.
func queueOf(n *scheduler.Node) string {
	if n == nil || n.Spec.Task != "" {
		return ""
	}
	return n.Spec.Queue
}

// watchToken sets the timer for the first limit of the token to pass.
func (ts *tokens) watchToken(e *external) {
	if e.timerKey == nobodys {
		return
	}
	k := e.tokenKey()
	switch limit, due := e.token.Due(); {
	case limit != storage.NoLimit:
		ts.timers.set(k, due)
		ts.next.Timer(k.path(ts.run), storage.TimerToken, due)
	case ts.timers.has(k):
		ts.timers.drop(k)
		ts.next.Timer(k.path(ts.run), storage.TimerToken, time.Time{})
	}
}

func (e *external) tokenKey() timerKey { return timerKey{node: e.node, atom: e.atom, token: true} }

// closeToken prevents other parties from ending the attempt.
func (ts *tokens) closeToken(path string, used bool) {
	e := ts.open[path]
	if e == nil {
		return
	}
	delete(ts.open, path)
	if k := e.tokenKey(); ts.timers.has(k) {
		ts.timers.drop(k)
		ts.next.Timer(path, storage.TimerToken, time.Time{})
	}
	if !used && e.token.ID != "" && e.token.State == storage.TokenOpen {
		ts.shut(e)
	}
	if e.early != nil {
		ts.next.Take(e.early.N)
	}
}

// lookAt reads the token of an attempt again.
func (ts *tokens) lookAt(e *external) error {
	t, err := ts.env.Store.Token(ts.storing, e.token.ID)
	if err != nil {
		return WrapStore(ts.claim.Run, err)
	}
	e.token = seen(&t)
	return nil
}

// seen returns the part of a token that a driver stores in memory.
func seen(t *storage.Token) storage.Token {
	kept := *t // with Details, which its failure will have
	kept.Work, kept.Result, kept.Failure = nil, nil, nil
	return kept
}

// overdue returns the failure of an attempt that has a token and has exceeded the limit. It says whether any worker
// ever took the work of the task.
func (ts *tokens) overdue(e *external, limit storage.TokenLimit) *atom.Failure {
	f := overdue(&e.token, limit)
	f.Untaken = ts.record(e).NoneBegunBefore() && e.untaken()
	return f
}

// overdue returns the failure of an attempt whose token has exceeded the limit.
func overdue(t *storage.Token, limit storage.TokenLimit) *atom.Failure {
	f := &atom.Failure{Atom: t.Path, Attempt: t.Attempt, Details: t.Details}
	switch limit {
	case storage.ScheduleToStart:
		f.Code, f.Message = atom.CodeScheduleToStart, fmt.Sprintf("no worker took the work within %v", t.ScheduleToStart)
	case storage.StartToClose:
		f.Code, f.Message = atom.CodeStartToClose,
			fmt.Sprintf("worker %q took the work and did not end it within %v", t.Worker, t.StartToClose)
	case storage.HeartbeatLimit:
		f.Code, f.Message = atom.CodeHeartbeatLost, fmt.Sprintf("no heartbeat arrived for %v", t.Heartbeat)
	default:
		f.Code, f.Message = atom.CodeTimeout, "the attempt did not end before its deadline"
	}
	return f
}

// loadTokens restores the open tokens, and the used tokens, which messages in the inbox show.
func (ts *tokens) loadTokens(snap *storage.Snapshot, targets map[string]timerKey) {
	for i := range snap.Tokens {
		ts.loadToken(&snap.Tokens[i], targets)
	}
	open := maps.Clone(ts.open)
	for i := range snap.Messages {
		// Otherwise the message is for an earlier attempt.
		if l := &snap.Messages[i]; l.Kind == storage.MessageToken && open[l.Path] == nil {
			ts.loadToken(&storage.Token{ID: l.Name, Path: l.Path, State: storage.TokenCompleted}, targets)
		}
	}
}

func (ts *tokens) loadToken(t *storage.Token, targets map[string]timerKey) {
	k, ok := targets[t.Path]
	if i := ts.plan.Index(t.Path); !ok && i >= 0 && !ts.Grows() {
		k = timerKey{atom: i}
	} else if !ok {
		k = nobodys
	}
	e := &external{timerKey: k, token: seen(t)}
	if k != nobodys && t.Queue != "" {
		ts.s.MarkQueued(k.node, k.atom)
	}
	if k.atom >= 0 && k.node == nil {
		e.signal = ts.plan.Atoms[k.atom].Signal()
	}
	ts.open[t.Path] = e
}

// loadSignals restores the atoms that only a signal can end.
func (ts *tokens) loadSignals() {
	for i := range ts.plan.Atoms {
		a := &ts.plan.Atoms[i]
		if name := a.Name(); a.Signal() != "" && ts.s.Record(int32(i)).Awaits() && ts.open[name] == nil {
			ts.open[name] = &external{timerKey: timerKey{atom: int32(i)}, signal: a.Signal()}
		}
	}
}

// endOf turns a message that ends an attempt into an event. If the result does not fit the task, the attempt fails.
func (ts *tokens) endOf(e *external, l *storage.Message) scheduler.Event {
	ev := scheduler.Event{
		Kind: scheduler.Completed, Atom: e.atom, Node: e.node, Revert: e.revert, Result: l.Body,
		Failure: l.Failure, ByToken: true,
	}
	if ev.Failure != nil {
		return ev
	}
	ev.Result = valueOf(ev.Result)
	if e.revert {
		return ev
	}
	if err := ts.checkResult(e, ev.Result); err != nil {
		ev.Result, ev.Failure = nil, &atom.Failure{
			Atom: e.path(ts.run), Attempt: int(ts.record(e).Attempt), Code: atom.CodeBadResult,
			Message: clip.Text(fmt.Sprintf("the %s that ended the attempt carries no result of it: %v", l.Kind, err),
				atom.MaxFailureText),
		}
	}
	return ev
}

// fits reports whether a signal can end the attempt. The store refuses most signals that cannot. One whose type only
// the code of the flow knows stays in the inbox, as does one for an atom that has not started, and the run keeps
// waiting.
func (ts *tokens) fits(e *external, l *storage.Message) bool {
	return l.Failure != nil || ts.checkResult(e, valueOf(l.Body)) == nil
}

// valueOf returns the value that an attempt ends with; none is null.
func valueOf(v atom.Value) atom.Value {
	if v == nil {
		return atom.Null
	}
	return v
}

// checkResult returns an error if the value cannot be a result of what the attempt executes. A task of a language is
// checked if the language has it itself; other nodes take any value.
func (ts *tokens) checkResult(e *external, v atom.Value) error {
	if e.node == nil {
		return fits(&ts.plan.Atoms[e.atom], v)
	}
	l, ok := ts.plan.Atoms[0].Language.(flow.TaskLanguage)
	if !ok {
		return nil
	}
	body, _ := l.Task(e.node.Spec.Task)
	if typed, ok := body.(resultChecker); ok {
		return fits(typed, v)
	}
	return nil
}

type resultChecker interface{ CheckResult(v atom.Value) error }

// fits returns why a value is no result of a task. The type of the result may have code that decodes it.
func fits(task resultChecker, v atom.Value) (err error) {
	if broke := guard.Call(func() { err = task.CheckResult(v) }); broke != nil {
		return broke
	}
	return err
}

// record returns the record of an attempt whose atom is known.
func (ts *tokens) record(e *external) *scheduler.Record {
	if e.node != nil {
		return &e.node.Rec
	}
	return ts.s.Record(e.atom)
}

// byToken returns the attempt whose token a message is about; nil if the attempt is over.
func (ts *tokens) byToken(l *storage.Message) *external {
	if e := ts.open[l.Path]; e != nil && e.token.ID == l.Name {
		return e
	}
	return nil
}

// bySignal returns an attempt that a signal can end; nil if none awaits it.
func (ts *tokens) bySignal(l *storage.Message) *external {
	for _, e := range ts.open {
		if l.Kind == flow.MessageSignal && e.signal != "" && e.signal == l.Name && e.early == nil && ts.fits(e, l) {
			return e
		}
	}
	return nil
}

func (ts *tokens) awaits(e *external) bool {
	return e.revert || (e.node != nil || e.atom >= 0) && ts.record(e).Awaits()
}
