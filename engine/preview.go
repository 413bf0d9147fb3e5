package engine

import (
	"context"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Preview returns the paths of the atoms that a command would revert, in the order
// of reverting, if every revert succeeds. Preview changes nothing. If the run does
// not allow the command, Preview returns an error that wraps [ErrRefused]. If a
// process drives the run, Preview returns what the command would revert if it
// arrived now.
func (e *Engine) Preview(ctx context.Context, id string, o Command) ([]string, error) {
	d, live, err := e.look(ctx, id)
	if err != nil {
		return nil, err
	}
	defer d.release()
	if err := d.refuse(&o); err != nil {
		return nil, err
	}
	if d.grows() {
		return d.previewStack(&o, live)
	}
	so := o.of(0)
	return d.previewPlan(&so), nil
}

// look loads a run for looking at it, and returns its live atoms, too.
func (e *Engine) look(ctx context.Context, id string) (*driver, []storage.Atom, error) {
	run, err := e.store.Run(ctx, id)
	if err != nil {
		return nil, nil, wrapStore(id, err)
	}
	atoms, err := e.store.Atoms(ctx, id)
	if err != nil {
		return nil, nil, wrapStore(id, err)
	}
	plan, _, err := e.planFor(ctx, &run, nil)
	if err != nil {
		return nil, nil, err
	}
	atoms = slices.DeleteFunc(atoms, func(a storage.Atom) bool { return !a.Live })
	d, err := e.driver(ctx, plan, storage.Claim{Run: id}, &storage.Snapshot{Run: run, Atoms: atoms})
	return d, atoms, err
}

// previewPlan plays the command on the scheduler, as if every call that the
// scheduler asks for succeeded, until the run would go forward.
func (d *driver) previewPlan(o *scheduler.OperatorCommand) []string {
	var undone []string
	var ended []scheduler.Event
	step := func(ev scheduler.Event) (more bool) {
		ev.Now = d.now
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

// previewStack lists what executes and can be undone, then the entries of the undo
// stack, down to the entry that the command names.
func (d *driver) previewStack(o *Command, live []storage.Atom) ([]string, error) {
	if o.kind == messageCancel && !o.body.Undo {
		return nil, nil
	}
	var undone []string
	for i := range live {
		l, err := d.loaded(&live[i])
		if err != nil {
			return nil, wrapStore(d.claim.Run, err)
		}
		if l.Spec != nil && l.Spec.Undo != nil && l.Rec.Attempt > 0 {
			undone = append(undone, l.Path)
		}
	}
	undos, err := d.undoStack(0)
	if err != nil {
		return nil, err
	}
	if o.kind == messageSkip {
		undos = undos[1:]
	}
	for _, u := range undos {
		if o.kind == messageRevertTo && u.Path == o.path {
			break
		}
		if u.N > 1 && d.head.Undo == storage.UndoNone { // it can be neither
			undone = append(undone, u.Path)
			continue
		}
		stays, gone, err := d.stays(u)
		if err != nil {
			return nil, err
		}
		if stays {
			break
		}
		if !gone {
			undone = append(undone, u.Path)
		}
	}
	return undone, nil
}

// stays reports whether an entry of the undo stack is a point of no return, which
// can only be at the bottom, and whether it is undone already.
func (d *driver) stays(u storage.Undo) (stays, gone bool, err error) {
	a, err := d.e.store.Atom(d.storing, d.claim.Run, u.Path)
	if err != nil {
		return false, false, wrapStore(d.claim.Run, err)
	}
	l, err := d.loaded(&a)
	if err != nil {
		return false, false, wrapStore(d.claim.Run, err)
	}
	return l.Spec.Pivot && l.Rec.State == states.TaskSuccess, l.Rec.State == states.TaskReverted, nil
}
