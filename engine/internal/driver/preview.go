package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A standing says whether an entry of the undo stack can be undone, stays or is gone.
type standing uint8

const (
	undoable standing = iota
	stays             // a point of no return, which can only be at the bottom
	gone              // undone already
)

// Preview calls tell with the path of each atom that a command would revert, in the order of
// reverting, until tell returns false. Live are the live atoms of the run. Preview drives nothing.
func (r *run) Preview(o *inbox.Command, live []storage.Atom, tell func(path string) bool) error {
	if err := r.Refuse(o); err != nil {
		return err
	}
	if r.Grows() {
		return r.previewStack(o, live, tell)
	}
	so := o.Operator(0)
	for _, path := range r.previewPlan(&so) { // at most all atoms of the plan
		if !tell(path) {
			return nil
		}
	}
	return nil
}

// previewPlan plays the command on the scheduler, as if every call that the
// scheduler asks for succeeded, until the run would go forward.
func (r *run) previewPlan(o *scheduler.OperatorCommand) []string {
	var undone []string
	var ended []scheduler.Event
	step := func(ev scheduler.Event) (more bool) {
		ev.Now = r.next.Now
		cmds := r.s.Step(ev)
		for i := range cmds {
			switch c := &cmds[i]; c.Op {
			case scheduler.Revert:
				if a := &r.plan.Atoms[c.Atom]; a.Reverts() && a.Kind() == atom.KindTask {
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

// previewStack calls tell with the atoms that execute and can be undone, then with the
// entries of the undo stack, down to the entry that the command names.
func (r *run) previewStack(o *inbox.Command, live []storage.Atom, tell func(path string) bool) error {
	if o.Kind == inbox.Cancel && !o.Undo {
		return nil
	}
	for i := range live {
		l, err := r.next.Loaded(&live[i])
		if err != nil {
			return storeError(r.claim.Run, err)
		}
		if l.Spec != nil && l.Spec.Undo != nil && l.Rec.Attempt > 0 && !tell(l.Path) {
			return nil
		}
	}
	below := r.stack.size + 1
	if o.Kind == inbox.Skip {
		below--
	}
	for below > 1 {
		page, err := r.stackBelow(below)
		if err != nil || len(page) == 0 {
			return err
		}
		standing, err := r.standing(page)
		if err != nil {
			return err
		}
		for _, u := range page {
			if o.Kind == inbox.RevertTo && u.Path == o.Path || standing[u.Path] == stays {
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
func (r *run) stackBelow(below int64) ([]storage.Undo, error) {
	page, err := r.env.Store.Undos(r.ctx, r.claim.Run, below, stackPage)
	return page, storeError(r.claim.Run, err)
}

// standing returns the standing of the entries of a page that stay or are gone. It leaves
// out the entries that can be undone.
func (r *run) standing(page []storage.Undo) (map[string]standing, error) {
	var paths []string
	for _, u := range page {
		if u.N == 1 || r.next.Head.Undo != storage.UndoNone {
			paths = append(paths, u.Path)
		}
	}
	found, err := r.env.Store.AtomsAt(r.ctx, r.claim.Run, paths...)
	if err != nil {
		return nil, storeError(r.claim.Run, err)
	}
	how := map[string]standing{}
	for i := range found {
		l, err := r.next.Loaded(&found[i])
		switch {
		case err != nil:
			return nil, storeError(r.claim.Run, err)
		case l.Rec.State == states.TaskReverted:
			how[l.Path] = gone
		case l.Spec != nil && l.Spec.Pivot && l.Rec.State == states.TaskSuccess:
			how[l.Path] = stays
		}
	}
	return how, nil
}
