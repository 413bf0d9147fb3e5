package checkpoint

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An Attempt is what is kept of an atom's present attempt beside what the
// scheduler decides by: when it began and ended, and how far it said it was.
type Attempt struct {
	began, ended instant
	said         *said // nil while it has said nothing
	number       int64 // see Number
	state        states.Task
	place        int32 // of its record in the checkpoint, if that holds one: see planned
}

// An instant is a time in a third of the space: Unix nanoseconds, 0 when not yet.
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

// said is the progress that an atom reported last.
type said struct {
	fraction float64
	details  atom.Value
}

// follow brings at up to date with the record as it is to be written.
func (at *Attempt) follow(r *scheduler.Record, now time.Time) {
	number := Number(r)
	switch {
	case executes(r.State) && at.state == r.State && at.number == number:
		if r.State == states.TaskReverting && !r.Due().IsZero() && at.ended == 0 { // it waits to be tried again
			at.ended = instantOf(now)
		}
	case executes(r.State):
		at.began, at.ended = instantOf(now), 0
		if at.said != nil {
			at.said = &said{details: at.said.details}
		}
	case r.State == states.TaskPending || r.State == states.TaskIgnore:
		*at = Attempt{place: at.place}
	case at.ended == 0 && at.began != 0:
		at.ended = instantOf(now)
	}
	at.number, at.state = number, r.State
}

// Number tells the attempts of one incarnation apart, those of its revert, too:
// the one that is under way, or that is over while the next is waited for.
func Number(r *scheduler.Record) int64 {
	n := int64(r.Attempt)<<32 | int64(r.RevertAttempt())
	if r.State == states.TaskReverting && !r.Due().IsZero() {
		n--
	}
	return n
}

// executes reports whether an atom in that state is being called.
func executes(s states.Task) bool { return s == states.TaskRunning || s == states.TaskReverting }

// fill puts what is kept of the attempt into the atom's record.
func (at *Attempt) fill(a *storage.Atom) {
	a.StartedAt, a.EndedAt = at.began.time(), at.ended.time()
	if at.said != nil {
		a.Progress, a.Details = at.said.fraction, at.said.details
	}
	if at.state == states.TaskSuccess || at.state == states.TaskReverted {
		a.Progress = 1
	}
}

// attemptIn returns what a stored record says of the present attempt. The next
// time that the atom is called is another one.
func attemptIn(a *storage.Atom) Attempt {
	at := Attempt{began: instantOf(a.StartedAt), ended: instantOf(a.EndedAt), number: -1, state: a.State}
	if a.Progress != 0 || a.Details != nil {
		at.said = &said{a.Progress, a.Details}
	}
	return at
}

// A grown is what the driver keeps of a grown node or a child flow while its
// record may be written again.
type grown struct {
	Attempt
	spec  atom.Value // of a node or child flow, encoded
	token string     // that is in it

	memo any        // of a fork: what the language has made of what its children share
	made atom.Value // of which that was made
}

// memoOf returns where the language leaves what it makes of what a group shares;
// emptied when that is another thing than before.
func (g *grown) memoOf(shared atom.Value) *any {
	if len(shared) != len(g.made) || len(shared) > 0 && &shared[0] != &g.made[0] {
		g.memo, g.made = nil, shared
	}
	return &g.memo
}

// grownOf returns what is kept of a node or child flow.
func (d *Draft) grownOf(key any, path string) *grown {
	g := d.grown[key]
	if g == nil {
		g = &grown{Attempt: d.earlier[path]}
		delete(d.earlier, path)
		d.grown[key] = g
	}
	return g
}

// attemptOf returns what is kept of the attempt of an atom or node, or nil
// when the node is long over.
func (d *Draft) attemptOf(node *scheduler.Node, atom int32) *Attempt {
	if node == nil {
		return &d.attempts[atom]
	}
	if g := d.grown[node]; g != nil {
		return &g.Attempt
	}
	return nil
}

// Began records when the call of an attempt began.
func (d *Draft) Began(node *scheduler.Node, atom int32, at time.Time) {
	d.attemptOf(node, atom).began = instantOf(at)
}

// Ended records when the call of an attempt ended.
func (d *Draft) Ended(node *scheduler.Node, atom int32, at time.Time) {
	d.attemptOf(node, atom).ended = instantOf(at)
}

// Said records what an attempt said of its progress, and reports whether that is still of
// interest. Details of nil leave those that it gave before. The caller records the atom anew.
func (d *Draft) Said(node *scheduler.Node, atom int32, number int64, state states.Task, fraction float64, details *atom.Value) bool {
	at := d.attemptOf(node, atom)
	if at == nil || !executes(at.state) || at.number != number || at.state != state {
		return false
	}
	if *details == nil && at.said != nil {
		*details = at.said.details
	}
	at.said = &said{fraction, *details}
	return true
}

// Memo returns where the language leaves what it makes of what the children of a fork share;
// emptied when that is another thing than before.
func (d *Draft) Memo(fork *scheduler.Node, shared atom.Value) *any {
	return d.grownOf(fork, fork.Path).memoOf(shared)
}

// forgets drops what is kept of a node or child flow after the next commit, once
// nothing more is to be written of it.
func (d *Draft) forgets(key any, live bool, state states.Task) {
	if !live && !executes(state) {
		d.ending = append(d.ending, key)
	}
}
