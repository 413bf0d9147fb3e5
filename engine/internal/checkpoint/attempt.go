package checkpoint

import (
	"math"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An Attempt contains the data of an atom's current attempt that the scheduler does not need: when it started and
// ended, and its progress.
type Attempt struct {
	began, ended instant
	said         *said // nil before the first report
	number       int64 // see Number
	state        states.Task
	place        int32 // index of its record in the checkpoint, if there is one: see place
	waited       int32 // how long it waited for a free slot, in milliseconds
}

// An instant is a time in a third of the space: Unix nanoseconds; 0 means not yet.
type instant int64

func instantOf(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	return instant(t.UnixNano())
}

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(i))
}

// said is what is known of an atom beside its states: the last progress report or, of an atom that begins a run, the
// run that continues that run.
type said struct {
	fraction  float64
	details   atom.Value
	successor string // id of the run; "" if none
	of        int64  // attempt and incarnation that have the successor, see executionOf
}

// executionOf distinguishes the executions of an atom over all its incarnations.
func executionOf(incarnation, attempt int64) int64 { return incarnation<<32 | attempt }

// follow updates at for the record that will be written.
func (at *Attempt) follow(r *scheduler.Record, now time.Time) {
	number := Number(r)
	switch {
	case executes(r.State) && at.state == r.State && at.number == number:
		switch {
		case r.State == states.TaskReverting && !r.Due().IsZero() && at.ended == 0: // it waits for its next attempt
			at.ended = instantOf(now)
		case r.State == states.TaskRunning && r.Ended == grow.EndDeferred: // its call has ended, and another party ends it
			at.ended = 0
		}
	case at.state == states.TaskRunning && r.State == at.state && r.Attempt == 0: // cancelled before its first call
	case executes(r.State):
		at.began, at.ended, at.waited = instantOf(now), 0, 0
		if at.said != nil {
			next := &said{details: at.said.details}
			if of := executionOf(int64(r.Incarnation), int64(r.Attempt)); at.said.of == of {
				next.successor, next.of = at.said.successor, of
			}
			at.said = next
		}
	case r.State == states.TaskPending || r.State == states.TaskIgnore:
		*at = Attempt{place: at.place}
	case at.ended == 0 && at.began != 0:
		at.ended = instantOf(now)
	}
	at.number, at.state = number, r.State
}

// Number distinguishes the attempts of one incarnation, including those of its revert. It returns the number of the
// current attempt or, between two attempts, of the last one.
func Number(r *scheduler.Record) int64 {
	n := int64(r.Attempt)<<32 | int64(r.RevertAttempt())
	if r.State == states.TaskReverting && !r.Due().IsZero() {
		n--
	}
	return n
}

// executes reports whether a call of an atom in that state is running.
func executes(s states.Task) bool { return s == states.TaskRunning || s == states.TaskReverting }

// fill copies the attempt into the atom's record.
func (at *Attempt) fill(a *storage.Atom) {
	a.StartedAt, a.EndedAt = at.began.time(), at.ended.time()
	if at.said != nil {
		a.Progress, a.Details, a.Successor = at.said.fraction, at.said.details, at.said.successor
	}
	if at.state == states.TaskSuccess || at.state == states.TaskReverted {
		a.Progress = 1
	}
}

// attemptIn returns the current attempt from a stored record. The next call of the atom is another attempt.
func attemptIn(a *storage.Atom) Attempt {
	at := Attempt{began: instantOf(a.StartedAt), ended: instantOf(a.EndedAt), number: -1, state: a.State}
	if a.Progress != 0 || a.Details != nil || a.Successor != "" {
		at.said = &said{a.Progress, a.Details, a.Successor, executionOf(int64(a.Incarnation), int64(a.Attempt))}
	}
	return at
}

// An earlier is what a stored record contains of a grown node or a child flow, beside what the scheduler knows.
type earlier struct {
	Attempt
	input, note heldValue
}

// A grown is the draft's data of a grown node or a child flow while its record may be written again.
type grown struct {
	earlier
	spec  atom.Value  // specification of a node or child flow, encoded
	token string      // token in spec
	child *grow.Child // child in spec

	memo any        // of a fork: the language's parsed form of the input that its children share
	made atom.Value // of a fork: the input from which memo was made
}

// memoOf returns where the language stores its parsed form of a group's shared input. If shared has changed, the
// memo is empty.
func (g *grown) memoOf(shared atom.Value) *any {
	if len(shared) != len(g.made) || len(shared) > 0 && &shared[0] != &g.made[0] {
		g.memo, g.made = nil, shared
	}
	return &g.memo
}

// grownOf returns the data of a node or child flow.
func (d *Draft) grownOf(u *scheduler.Unit) *grown {
	g := d.grown[u]
	if g == nil {
		g = &grown{earlier: d.earlier[u.Path]}
		delete(d.earlier, u.Path)
		d.grown[u] = g
	}
	return g
}

// attemptOf returns the attempt of a unit, or nil if it has grown and ended long ago.
func (d *Draft) attemptOf(u *scheduler.Unit) *Attempt {
	if u.Planned != nil {
		return &d.attempts[u.Index]
	}
	if g := d.grown[u]; g != nil {
		return &g.Attempt
	}
	return nil
}

// BeganAt returns when the current attempt of an atom of the plan began.
func (d *Draft) BeganAt(atom int32) time.Time { return d.attempts[atom].began.time() }

// Began records when the call of an attempt began, and whether it waited for a free slot until then.
func (d *Draft) Began(u *scheduler.Unit, at time.Time, waited bool) {
	a := d.attemptOf(u)
	if waited && a.began != 0 {
		a.waited = int32(min(max(at.Sub(a.began.time()).Milliseconds(), 0), math.MaxInt32))
	}
	a.began = instantOf(at)
}

// Ended records when the call of an attempt ended.
func (d *Draft) Ended(u *scheduler.Unit, at time.Time) {
	d.attemptOf(u).ended = instantOf(at)
}

// Said records a progress report of an attempt, and reports whether the attempt is still current. If details is
// nil, the previous details stay. The caller records the atom again.
func (d *Draft) Said(u *scheduler.Unit, number int64, state states.Task, fraction float64, details *atom.Value) bool {
	at := d.attemptOf(u)
	if at == nil || !executes(at.state) || at.number != number || at.state != state {
		return false
	}
	if *details == nil && at.said != nil {
		*details = at.said.details
	}
	at.said = &said{fraction: fraction, details: *details}
	return true
}

// Continue records that another run continues the run that an attempt has begun. The caller records the atom again.
func (d *Draft) Continue(u *scheduler.Unit, id string) {
	if u.Planned == nil {
		d.grownOf(u)
	}
	d.attemptOf(u).said = &said{successor: id, of: executionOf(int64(u.Rec.Incarnation), int64(u.Rec.Attempt))}
}

// Successor returns the id of the run that continues the run of the current attempt; "" if none does.
func (d *Draft) Successor(u *scheduler.Unit) string {
	at := d.attemptOf(u)
	if at == nil {
		had := d.earlier[u.Path].Attempt
		at = &had
	}
	if at.said == nil || at.said.of != executionOf(int64(u.Rec.Incarnation), int64(u.Rec.Attempt)) {
		return ""
	}
	return at.said.successor
}

// Memo returns where the language stores its parsed form of the input that the children of a fork share. If shared
// has changed, the memo is empty.
func (d *Draft) Memo(fork *scheduler.Node, shared atom.Value) *any {
	return d.grownOf(&fork.Unit).memoOf(shared)
}

// forgets drops the data of a node or child flow after the next commit, if the node's record will not be written
// again.
func (d *Draft) forgets(u *scheduler.Unit, live bool, state states.Task) {
	if !live && !executes(state) {
		d.ending = append(d.ending, u)
	}
}
