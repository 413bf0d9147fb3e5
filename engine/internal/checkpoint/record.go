package checkpoint

import (
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A record is stored under the path of its atom. It contains the scheduler's fields and, for a grown node, the
// specification of the node.

// recordIn returns the scheduler's part of a stored record.
func (d *Draft) recordIn(a *storage.Atom) scheduler.Record {
	r := scheduler.Record{
		State: a.State, Intention: a.Intention,
		Incarnation: int32(a.Incarnation), Attempt: int32(a.Attempt),
		Ended: a.Ended, RunEnd: a.RunEnd, Result: d.Held(a.Result), Failure: a.Failure,
	}
	if a.RevertResult.Data != nil || a.RevertFailure != nil || a.Tries != nil || !a.Due.IsZero() || a.RevertAttempt > 0 {
		r.Extra = &scheduler.RecordExtra{
			RevertResult: d.Held(a.RevertResult), RevertFailure: a.RevertFailure,
			Tries: a.Tries, Due: a.Due, RevertAttempt: int32(a.RevertAttempt),
		}
	}
	return r
}

// Record adds the record of a command to the draft. If the state changes, Record also adds a line to the history.
// It returns both; the line is nil if the state has not changed, and is valid until the next line.
func (d *Draft) Record(cmd *scheduler.Command) (*storage.Atom, *storage.Entry) {
	d.Dirty = true
	a, at := d.place(cmd)
	r := &cmd.Rec
	at.follow(r, d.Now)
	at.fill(a)
	a.State, a.Intention = r.State, r.Intention
	a.Incarnation, a.Attempt = int(r.Incarnation), int(r.Attempt)
	a.Ended, a.RunEnd = r.Ended, r.RunEnd
	a.Result.Data, a.Failure = r.Result, r.Failure
	if len(r.Result) > backend.InlineLimit {
		a.Result = d.Hold(r.Result)
	}
	if x := r.Extra; x != nil {
		a.RevertResult, a.RevertFailure = d.Hold(x.RevertResult), x.RevertFailure
		a.Tries, a.Due, a.RevertAttempt = x.Tries, x.Due, int(x.RevertAttempt)
	}
	if cmd.Op != scheduler.Notify {
		return a, nil
	}
	entry := d.line(storage.EntryAtom)
	entry.Path, entry.From, entry.To = a.Path, uint8(cmd.From), uint8(cmd.To)
	entry.Incarnation, entry.Attempt = a.Incarnation, a.Attempt
	if executes(cmd.From) {
		entry.Waited = time.Duration(at.waited) * time.Millisecond
		if ended := at.ended.time(); at.ended != 0 && entry.Time.Sub(ended) >= time.Millisecond {
			entry.Ended = ended
		}
	}
	switch cmd.To {
	case states.TaskSuccess:
		entry.Body = a.Result
	case states.TaskFailure, states.TaskCancelled:
		entry.Failure = a.Failure
	case states.TaskRetrying:
		if executes(cmd.From) { // of an atom that was in FAILURE, the line before has the failure
			entry.Failure = a.Failure
		}
	case states.TaskReverted:
		if cmd.Unit.Planned == nil {
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

// place returns the checkpoint's record of the command's atom, with the atom's kind, and the atom's attempt. If the
// checkpoint already contains a record of the atom, place clears it.
func (d *Draft) place(cmd *scheduler.Command) (*storage.Atom, *Attempt) {
	u := cmd.Unit
	switch {
	case u.Node != nil:
		return d.node(u.Node, cmd.Rec.State)
	case u.Child != nil:
		return d.scope(u.Child, cmd.Rec.State)
	}
	pa, at, path := u.Planned, &d.attempts[u.Index], u.Path
	var a *storage.Atom
	if n := int(at.place); n < len(d.Atoms) && d.Atoms[n].Path == path {
		a = &d.Atoms[n]
		*a = storage.Atom{Path: path}
	} else {
		at.place = int32(len(d.Atoms))
		a = d.addAtom(path)
	}
	a.Live = true
	if pa.Run != nil {
		a.Kind = storage.KindRun
	}
	a.Signal = pa.Signal()
	switch {
	case pa.Language != nil:
		a.Kind = storage.KindFlow
	case pa.Kind() == atom.KindRetry:
		a.Kind = storage.KindRetry
		a.Undo = storage.UndoNothing
		if cmd.Rec.Tries().Earlier > 0 {
			a.Overflow = d.overflows[u.Index].ref
		}
	case pa.StaysDone():
		a.Undo = storage.UndoLeaves
	case !pa.Reverts():
		a.Undo = storage.UndoNothing
	}
	return a, at
}

// child is the specification of a stored flow that is the child of a fork.
type child struct {
	Fork    string `json:"fork"`
	Index   int    `json:"index"`
	Attempt int    `json:"attempt"` // attempt of the fork
}

// node is place for a grown node, whose record also contains its specification.
func (d *Draft) node(n *scheduler.Node, state states.Task) (*storage.Atom, *Attempt) {
	kept := d.grownOf(&n.Unit)
	// Each attempt has its own token, and may have its own child run: see grow.Again.
	if kept.spec == nil || kept.token != n.Spec.Token || kept.child != n.Spec.Child {
		kept.spec, kept.token, kept.child = atom.MustEncode(n.Spec), n.Spec.Token, n.Spec.Child
		d.wrote(lineSize + len(n.Path) + len(kept.spec))
	}
	d.forgets(&n.Unit, n.Kept, state)
	a := d.unplanned(n.Path)
	a.Kind, a.Live, a.Spec, a.Note = nodeKinds[n.Spec.Kind], n.Kept, kept.spec, d.holdOnce(&kept.note, n.Spec.Note)
	switch {
	case n.Spec.Reverts():
	case n.Spec.HasEffect():
		a.Undo = storage.UndoLeaves
	default:
		a.Undo = storage.UndoNothing
	}
	if g := n.Spec.Group; g != nil {
		a.Input = d.holdOnce(&kept.input, g.Shared)
	} else {
		a.Input = d.holdOnce(&kept.input, n.Spec.Input)
	}
	return a, &kept.Attempt
}

var nodeKinds = [...]storage.AtomKind{
	grow.Work: storage.KindTask, grow.Timer: storage.KindTimer, grow.Fork: storage.KindFork, grow.Nested: storage.KindRun,
}

// scope is place for a child flow of a fork.
func (d *Draft) scope(s *scheduler.Scope, state states.Task) (*storage.Atom, *Attempt) {
	a := d.unplanned(s.Path)
	a.Kind, a.Live, a.Note = storage.KindFlow, !s.Closed(), d.Hold(s.Memory)
	g := d.grownOf(s.Unit)
	if g.spec == nil { // the specification of a child does not change
		g.spec = atom.MustEncode(child{s.Parent.Path, s.Index, int(s.Parent.Rec.Attempt)})
		d.wrote(lineSize + len(s.Path) + len(g.spec))
	}
	a.Spec = g.spec
	d.forgets(s.Unit, !s.Closed(), state)
	return a, &g.Attempt
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
	l.Spec = new(grow.Spec)
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

// Load restores an atom from a stored record, and returns the rest of the record in the scheduler's form.
func (d *Draft) Load(a *storage.Atom) (scheduler.Loaded, error) {
	l, err := d.Loaded(a)
	if err != nil {
		return l, err
	}
	n := d.plan.Index(l.Path)
	if n < 0 || l.Spec != nil || l.Child {
		d.earlier[l.Path] = earlier{attemptIn(a), heldValue{a.Input.Data, a.Input.Ref}, heldValue{a.Note.Data, a.Note.Ref}}
		return l, nil
	}
	d.attempts[n] = attemptIn(a)
	if a.Overflow > 0 {
		d.keepOverflow(n, overflow{ref: a.Overflow})
	}
	return l, nil
}

// addAtom adds an empty record to the checkpoint.
func (d *Draft) addAtom(path string) *storage.Atom {
	a := extend(&d.Atoms)
	a.Path = path
	return a
}

// few is the number of records up to which a scan of the checkpoint is faster than an index.
const few = 16

// unplanned returns an empty record in the checkpoint for a node or child flow, which only its path identifies.
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

// where returns the index of an atom's record in the checkpoint; -1 if there is none.
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

// Gathered returns the checkpoint's record of an atom.
func (d *Draft) Gathered(path string) (storage.Atom, bool) {
	if i := d.where(path); i >= 0 {
		return d.Atoms[i], true
	}
	return storage.Atom{}, false
}
