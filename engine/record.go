package engine

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A record is stored under the path of its atom. Its fields are the scheduler's,
// and for grown nodes also what the node is.

// fill puts what is known about an atom into its record.
func (d *driver) fill(a *storage.Atom, r *scheduler.Record, at *attempt) {
	at.follow(r, d.now)
	at.fill(a)
	a.State, a.Intention = r.State, r.Intention
	a.Incarnation, a.Attempt = int(r.Incarnation), int(r.Attempt)
	a.Ended = storage.EndMark(r.Ended)
	a.Result, a.Failure = d.hold(r.Result), r.Failure
	if x := r.Rare; x != nil {
		a.RevertResult, a.RevertFailure = d.hold(x.RevertResult), x.RevertFailure
		a.Tries, a.Due, a.RevertAttempt = x.Tries, x.Due, int(x.RevertAttempt)
	}
}

// recordIn returns the scheduler's part of a stored record.
func (d *driver) recordIn(a *storage.Atom) scheduler.Record {
	r := scheduler.Record{
		State: a.State, Intention: a.Intention,
		Incarnation: int32(a.Incarnation), Attempt: int32(a.Attempt),
		Ended: scheduler.End(a.Ended), Result: d.held(a.Result), Failure: a.Failure,
	}
	if a.RevertResult.Data != nil || a.RevertFailure != nil || a.Tries != nil || !a.Due.IsZero() || a.RevertAttempt > 0 {
		r.Rare = &scheduler.Rare{
			RevertResult: d.held(a.RevertResult), RevertFailure: a.RevertFailure,
			Tries: a.Tries, Due: a.Due, RevertAttempt: int32(a.RevertAttempt),
		}
	}
	return r
}

func (d *driver) planRecord(i int32, r *scheduler.Record) *storage.Atom {
	pa, a := &d.plan.Atoms[i], d.planned(i)
	a.Live = true
	switch {
	case pa.Language != nil:
		a.Kind = storage.KindFlow
	case pa.Kind() == atom.KindRetry:
		a.Kind = storage.KindRetry
		if r.Tries().Earlier > 0 {
			a.Overflow = d.overflows[i].ref
		}
	}
	d.fill(a, r, &d.attempts[i])
	return a
}

// child is what makes a stored flow the child of a fork.
type child struct {
	Fork    string `json:"fork"`
	Index   int    `json:"index"`
	Attempt int    `json:"attempt"` // of the fork
}

func (d *driver) nodeRecord(n *scheduler.Node, r *scheduler.Record) *storage.Atom {
	kept := d.grownOf(n, n.Path)
	if kept.spec == nil || kept.token != n.Spec.Token { // each attempt has its own
		kept.spec, kept.token = atom.MustEncode(n.Spec), n.Spec.Token
		d.wrote(lineSize + len(n.Path) + len(kept.spec))
	}
	d.forgets(n, n.Kept, r.State)
	a := d.unplanned(n.Path)
	a.Kind, a.Live, a.Spec, a.Note = nodeKinds[n.Spec.Kind], n.Kept, kept.spec, d.hold(n.Spec.Note)
	if g := n.Spec.Group; g != nil {
		a.Input = d.hold(g.Shared)
	} else {
		a.Input = d.hold(n.Spec.Input)
	}
	d.fill(a, r, &kept.attempt)
	return a
}

var nodeKinds = [...]storage.AtomKind{
	flow.Work: storage.KindTask, flow.Timer: storage.KindTimer, flow.Fork: storage.KindFork, flow.Nested: storage.KindRun,
}

func (d *driver) scopeRecord(s *scheduler.Scope, r *scheduler.Record) *storage.Atom {
	a := d.unplanned(s.Path)
	a.Kind, a.Live, a.Note = storage.KindFlow, !s.Closed(), d.hold(s.Memory)
	g := d.grownOf(s, s.Path)
	if g.spec == nil { // it stays what it is
		g.spec = atom.MustEncode(child{s.Parent.Path, s.Index, int(s.Parent.Rec.Attempt)})
		d.wrote(lineSize + len(s.Path) + len(g.spec))
	}
	a.Spec = g.spec
	d.forgets(s, !s.Closed(), r.State)
	d.fill(a, r, &g.attempt)
	return a
}

// loaded returns a stored record in the scheduler's form.
func (d *driver) loaded(a *storage.Atom) (scheduler.Loaded, error) {
	l := scheduler.Loaded{Path: a.Path, Rec: d.recordIn(a)}
	if a.Spec == nil {
		return l, nil
	}
	if a.Kind == storage.KindFlow {
		var c child
		if err := a.Spec.Decode(&c); err != nil {
			return l, fmt.Errorf("%w: atom %q: %w", storage.ErrCorrupt, a.Path, err)
		}
		l.Child, l.Parent, l.Index, l.Attempt, l.Memory = true, c.Fork, c.Index, c.Attempt, d.held(a.Note)
		return l, nil
	}
	l.Spec = new(flow.Spec)
	if err := a.Spec.Decode(l.Spec); err != nil {
		return l, fmt.Errorf("%w: atom %q: %w", storage.ErrCorrupt, a.Path, err)
	}
	l.Spec.Note = d.held(a.Note)
	if l.Spec.Group != nil {
		l.Spec.Group.Shared = d.held(a.Input)
	} else {
		l.Spec.Input = d.held(a.Input)
	}
	return l, nil
}
