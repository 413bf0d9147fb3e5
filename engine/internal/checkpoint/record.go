package checkpoint

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A record is stored under the path of its atom. Its fields are the scheduler's,
// and for grown nodes also what the node is.

// fill puts what is known about an atom into its record.
func (d *Draft) fill(a *storage.Atom, r *scheduler.Record, at *Attempt) {
	at.follow(r, d.Now)
	at.fill(a)
	a.State, a.Intention = r.State, r.Intention
	a.Incarnation, a.Attempt = int(r.Incarnation), int(r.Attempt)
	a.Ended = storage.EndMark(r.Ended)
	a.Result, a.Failure = d.Hold(r.Result), r.Failure
	if x := r.Rare; x != nil {
		a.RevertResult, a.RevertFailure = d.Hold(x.RevertResult), x.RevertFailure
		a.Tries, a.Due, a.RevertAttempt = x.Tries, x.Due, int(x.RevertAttempt)
	}
}

// recordIn returns the scheduler's part of a stored record.
func (d *Draft) recordIn(a *storage.Atom) scheduler.Record {
	r := scheduler.Record{
		State: a.State, Intention: a.Intention,
		Incarnation: int32(a.Incarnation), Attempt: int32(a.Attempt),
		Ended: scheduler.End(a.Ended), Result: d.Held(a.Result), Failure: a.Failure,
	}
	if a.RevertResult.Data != nil || a.RevertFailure != nil || a.Tries != nil || !a.Due.IsZero() || a.RevertAttempt > 0 {
		r.Rare = &scheduler.Rare{
			RevertResult: d.Held(a.RevertResult), RevertFailure: a.RevertFailure,
			Tries: a.Tries, Due: a.Due, RevertAttempt: int32(a.RevertAttempt),
		}
	}
	return r
}

// Record puts the record that a command brings into the draft.
func (d *Draft) Record(cmd *scheduler.Command) *storage.Atom {
	d.Dirty = true
	switch {
	case cmd.Node != nil:
		return d.Node(cmd.Node, &cmd.Rec)
	case cmd.Scope != nil:
		return d.scope(cmd.Scope, &cmd.Rec)
	default:
		return d.Atom(cmd.Atom, &cmd.Rec)
	}
}

// Change records that the state of an atom has changed, and returns its record and the line
// of history, which is valid until the next one.
func (d *Draft) Change(cmd *scheduler.Command) (*storage.Atom, *storage.Entry) {
	a := d.Record(cmd)
	entry := d.line(storage.EntryAtom)
	entry.Path, entry.From, entry.To = a.Path, uint8(cmd.From), uint8(cmd.To)
	entry.Incarnation, entry.Attempt = a.Incarnation, a.Attempt
	switch cmd.To {
	case states.TaskSuccess:
		entry.Body = a.Result
	case states.TaskFailure, states.TaskCancelled:
		entry.Failure = a.Failure
	case states.TaskReverted:
		if cmd.Node != nil {
			d.Head.Undo = storage.UndonePart
		}
	case states.TaskRevertFailure:
		entry.Failure = a.RevertFailure
	default:
	}
	if !d.quiet {
		d.wrote(len(a.Path) + inlined(entry.Body))
		if f := entry.Failure; f != nil {
			d.wrote(len(f.Message) + len(f.Stack) + len(f.Details))
		}
	}
	return a, entry
}

// Atom puts the record of an atom of the plan into the draft.
func (d *Draft) Atom(i int32, r *scheduler.Record) *storage.Atom {
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

// Node puts the record of a grown node into the draft.
func (d *Draft) Node(n *scheduler.Node, r *scheduler.Record) *storage.Atom {
	kept := d.grownOf(n, n.Path)
	if kept.spec == nil || kept.token != n.Spec.Token { // each attempt has its own
		kept.spec, kept.token = atom.MustEncode(n.Spec), n.Spec.Token
		d.wrote(lineSize + len(n.Path) + len(kept.spec))
	}
	d.forgets(n, n.Kept, r.State)
	a := d.unplanned(n.Path)
	a.Kind, a.Live, a.Spec, a.Note = nodeKinds[n.Spec.Kind], n.Kept, kept.spec, d.Hold(n.Spec.Note)
	if g := n.Spec.Group; g != nil {
		a.Input = d.Hold(g.Shared)
	} else {
		a.Input = d.Hold(n.Spec.Input)
	}
	d.fill(a, r, &kept.Attempt)
	return a
}

var nodeKinds = [...]storage.AtomKind{
	flow.Work: storage.KindTask, flow.Timer: storage.KindTimer, flow.Fork: storage.KindFork, flow.Nested: storage.KindRun,
}

// scope puts the record of a child flow into the draft.
func (d *Draft) scope(s *scheduler.Scope, r *scheduler.Record) *storage.Atom {
	a := d.unplanned(s.Path)
	a.Kind, a.Live, a.Note = storage.KindFlow, !s.Closed(), d.Hold(s.Memory)
	g := d.grownOf(s, s.Path)
	if g.spec == nil { // it stays what it is
		g.spec = atom.MustEncode(child{s.Parent.Path, s.Index, int(s.Parent.Rec.Attempt)})
		d.wrote(lineSize + len(s.Path) + len(g.spec))
	}
	a.Spec = g.spec
	d.forgets(s, !s.Closed(), r.State)
	d.fill(a, r, &g.Attempt)
	return a
}

// Loaded returns a stored record in the scheduler's form.
func (d *Draft) Loaded(a *storage.Atom) (scheduler.Loaded, error) {
	l := scheduler.Loaded{Path: a.Path, Rec: d.recordIn(a)}
	if a.Spec == nil {
		return l, nil
	}
	if a.Kind == storage.KindFlow {
		var c child
		if err := a.Spec.Decode(&c); err != nil {
			return l, fmt.Errorf("%w: atom %q: %w", storage.ErrCorrupt, a.Path, err)
		}
		l.Child, l.Parent, l.Index, l.Attempt, l.Memory = true, c.Fork, c.Index, c.Attempt, d.Held(a.Note)
		return l, nil
	}
	l.Spec = new(flow.Spec)
	if err := a.Spec.Decode(l.Spec); err != nil {
		return l, fmt.Errorf("%w: atom %q: %w", storage.ErrCorrupt, a.Path, err)
	}
	l.Spec.Note = d.Held(a.Note)
	if l.Spec.Group != nil {
		l.Spec.Group.Shared = d.Held(a.Input)
	} else {
		l.Spec.Input = d.Held(a.Input)
	}
	return l, nil
}

// Load takes up what a stored record says of an atom, and returns the rest of it in the
// scheduler's form.
func (d *Draft) Load(a *storage.Atom) (scheduler.Loaded, error) {
	l, err := d.Loaded(a)
	if err != nil {
		return l, err
	}
	n := d.plan.Index(l.Path)
	if n < 0 || l.Spec != nil || l.Child {
		d.earlier[l.Path] = attemptIn(a)
		return l, nil
	}
	d.attempts[n] = attemptIn(a)
	if a.Overflow > 0 {
		d.keepOverflow(n, overflow{ref: a.Overflow})
	}
	return l, nil
}

// planned returns the place in the checkpoint for the record of an atom of the
// plan. If the checkpoint already holds a record of the atom, planned returns that
// record, cleared.
func (d *Draft) planned(i int32) *storage.Atom {
	at, path := &d.attempts[i], d.plan.Atoms[i].Name()
	if n := int(at.place); n < len(d.Atoms) && d.Atoms[n].Path == path {
		d.Atoms[n] = storage.Atom{Path: path}
		return &d.Atoms[n]
	}
	at.place = int32(len(d.Atoms))
	return d.addAtom(path)
}

func (d *Draft) addAtom(path string) *storage.Atom {
	a := extend(&d.Atoms)
	a.Path = path
	return a
}

// few is up to how many records of a checkpoint are looked through rather than
// looked up.
const few = 16

// unplanned is planned for what has grown, which is known by its path alone.
func (d *Draft) unplanned(path string) *storage.Atom {
	n := d.where(path)
	if n < 0 {
		if d.at != nil {
			d.at[path] = len(d.Atoms)
		}
		return d.addAtom(path)
	}
	d.Atoms[n] = storage.Atom{Path: path}
	return &d.Atoms[n]
}

// where returns the place of an atom's record in the checkpoint, -1 if it has none.
func (d *Draft) where(path string) int {
	atoms := d.Atoms
	if len(atoms) <= few {
		return slices.IndexFunc(atoms, func(a storage.Atom) bool { return a.Path == path })
	}
	if d.at == nil {
		d.at = make(map[string]int, 2*len(atoms))
		for i := range atoms {
			d.at[atoms[i].Path] = i
		}
	}
	if i, ok := d.at[path]; ok {
		return i
	}
	return -1
}

// Gathered returns the record of an atom that the checkpoint holds.
func (d *Draft) Gathered(path string) (storage.Atom, bool) {
	if i := d.where(path); i >= 0 {
		return d.Atoms[i], true
	}
	return storage.Atom{}, false
}
