package engine

import (
	"context"
	"iter"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Preview yields the paths of the atoms that a command would revert, in the order
// of reverting, if every revert succeeds. They may be many: Preview reads them page by
// page, as far as the caller wants them. It changes nothing. If the run does not allow
// the command, Preview yields an error that wraps [ErrRefused]; if ctx ends, [ErrStopped];
// it ends with an error. If a process drives the run, Preview yields what the command
// would revert if it arrived now.
func (e *Engine) Preview(ctx context.Context, id string, o Command) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := e.preview(ctx, id, &o, func(path string) bool { return yield(path, nil) })
		switch {
		case err == nil:
		case ctx.Err() != nil:
			yield("", ErrStopped)
		default:
			yield("", err)
		}
	}
}

// preview is Preview until tell returns false.
func (e *Engine) preview(ctx context.Context, id string, o *Command, tell func(path string) bool) error {
	d, live, err := e.look(ctx, id)
	if err != nil {
		return err
	}
	defer d.release()
	if err := d.refuse(o); err != nil {
		return err
	}
	if d.grows() {
		return d.previewStack(o, live, tell)
	}
	so := o.of(0)
	for _, path := range d.previewPlan(&so) { // at most all atoms of the plan
		if !tell(path) {
			return nil
		}
	}
	return nil
}

// look loads a run for looking at it, and returns its live atoms, too.
func (e *Engine) look(ctx context.Context, id string) (*driver, []storage.Atom, error) {
	run, err := e.store.Run(ctx, id)
	if err != nil {
		return nil, nil, wrapStore(id, err)
	}
	atoms, err := e.store.Atoms(ctx, id, storage.AtomQuery{Live: true})
	if err != nil {
		return nil, nil, wrapStore(id, err)
	}
	plan, _, err := e.planFor(ctx, &run, nil)
	if err != nil {
		return nil, nil, err
	}
	d, err := e.driver(ctx, plan, storage.Claim{Run: id}, &storage.Snapshot{Run: run, Atoms: atoms})
	return d, atoms, err
}

// previewPlan plays the command on the scheduler, as if every call that the
// scheduler asks for succeeded, until the run would go forward.
func (d *driver) previewPlan(o *scheduler.OperatorCommand) []string {
	var undone []string
	var ended []scheduler.Event
	step := func(ev scheduler.Event) (more bool) {
		ev.Now = d.next.Now
		cmds := d.s.Step(ev)
		for i := range cmds {
			switch c := &cmds[i]; c.Op {
			case scheduler.Revert:
				if a := &d.plan.Atoms[c.Atom]; a.Reverts() && a.Kind() == atom.KindTask {
					undone = append(undone, a.Name())
				}
				ended = append(ended, scheduler.Event{Kind: scheduler.Completed, Atom: c.Atom, Revert: true, Result: atom.Null})
			case scheduler.More:
				ended = append(ended, scheduler.Event{Kind: scheduler.Continue})
			case scheduler.Execute, scheduler.AskDeciders, scheduler.AskRetry, scheduler.Over:
				return false
			default:
			}
		}
		return len(cmds) > 0
	}
	for more := step(scheduler.Event{Kind: scheduler.Begin, Fresh: true, OperatorCommand: o}); more || len(ended) > 0; {
		ev := scheduler.Event{Kind: scheduler.Idle}
		if len(ended) > 0 {
			ev, ended = ended[0], ended[1:]
		}
		if more = step(ev); !more && ev.Kind == scheduler.Idle {
			break
		}
	}
	return undone
}

// previewStack tells what executes and can be undone, then the entries of the undo
// stack, down to the entry that the command names.
func (d *driver) previewStack(o *Command, live []storage.Atom, tell func(path string) bool) error {
	if o.kind == messageCancel && !o.body.Undo {
		return nil
	}
	for i := range live {
		l, err := d.next.Loaded(&live[i])
		if err != nil {
			return wrapStore(d.claim.Run, err)
		}
		if l.Spec != nil && l.Spec.Undo != nil && l.Rec.Attempt > 0 && !tell(l.Path) {
			return nil
		}
	}
	below := d.undos + 1
	if o.kind == messageSkip {
		below--
	}
	for below > 1 {
		page, err := d.stackBelow(below)
		if err != nil || len(page) == 0 {
			return err
		}
		standing, err := d.standing(page)
		if err != nil {
			return err
		}
		for _, u := range page {
			if o.kind == messageRevertTo && u.Path == o.path || standing[u.Path] == stays {
				return nil
			}
			if standing[u.Path] != gone && !tell(u.Path) {
				return nil
			}
		}
		below = page[len(page)-1].N
	}
	return nil
}

// stackBelow returns a page of the stored undo stack.
func (d *driver) stackBelow(below int64) ([]storage.Undo, error) {
	page, err := d.e.store.Undos(d.ctx, d.claim.Run, below, stackPage)
	return page, wrapStore(d.claim.Run, err)
}

// How an entry of the undo stack stands that is not simply undone.
type standing uint8

const (
	undoable standing = iota
	stays             // a point of no return, which can only be at the bottom
	gone              // undone already
)

// standing returns how the entries of a page stand that may stay, or be gone: it leaves
// out what is undoable.
func (d *driver) standing(page []storage.Undo) (map[string]standing, error) {
	var paths []string
	for _, u := range page {
		if u.N == 1 || d.next.Head.Undo != storage.UndoNone {
			paths = append(paths, u.Path)
		}
	}
	found, err := d.e.store.AtomsAt(d.ctx, d.claim.Run, paths...)
	if err != nil {
		return nil, wrapStore(d.claim.Run, err)
	}
	how := map[string]standing{}
	for i := range found {
		l, err := d.next.Loaded(&found[i])
		switch {
		case err != nil:
			return nil, wrapStore(d.claim.Run, err)
		case l.Rec.State == states.TaskReverted:
			how[l.Path] = gone
		case l.Spec != nil && l.Spec.Pivot && l.Rec.State == states.TaskSuccess:
			how[l.Path] = stays
		}
	}
	return how, nil
}
