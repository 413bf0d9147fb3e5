package driver

import (
	"cmp"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An undoCandidate is an entry of the undo stack with what is known of it.
type undoCandidate struct {
	step   PreviewStep
	gone   bool // it was undone already
	bottom bool // it is a point of no return, which can only be at the bottom
}

// A PreviewStep is an atom that a command would undo. Package engine has the same type.
type PreviewStep struct {
	Path   string
	Status storage.Status
	Stops  bool
}

// Preview calls tell with each atom that a command would undo, in the order of undoing, then with the points of no
// return that stop the undo, until tell returns false. Live are the live atoms of the run. Preview drives nothing.
func Preview(d *Driver, cmd *inbox.Command, live []storage.Atom, tell func(PreviewStep) bool) error {
	if err := d.Refuse(cmd); err != nil {
		return err
	}
	if d.Grows() {
		return d.previewStack(cmd, live, tell)
	}
	so := cmd.Operator(0)
	steps := d.previewPlan(&so) // at most all atoms of the plan
	if so.Kind == scheduler.Stop && so.Undo {
		steps = append(steps, d.passedPivots()...)
	}
	for _, step := range steps {
		if !tell(step) {
			return nil
		}
	}
	return nil
}

// previewPlan plays the command on the scheduler, as if every call that the
// scheduler asks for succeeded, until the run would go forward.
func (d *Driver) previewPlan(cmd *scheduler.OperatorCommand) []PreviewStep {
	var undone []PreviewStep
	var ended []scheduler.Event
	forward := false
	ev := scheduler.Event{Kind: scheduler.Begin, Fresh: true, OperatorCommand: cmd}
	for {
		ev.Now = d.Draft.Now
		cmds := d.s.Step(ev)
		for i := range cmds {
			switch c := &cmds[i]; c.Op {
			case scheduler.Revert:
				if u := c.Unit; u.Reverts() && u.Planned.Kind() == atom.KindTask {
					undone = append(undone, PreviewStep{Path: u.Path, Status: reverted})
				}
				ended = append(ended, scheduler.Event{
					Kind: scheduler.Completed, Unit: c.Unit, Revert: true, Result: atom.Null,
					Untaken: d.beganNothing(c.Unit),
				})
			case scheduler.Stays:
				undone = append(undone, PreviewStep{Path: c.Unit.Path, Status: statusLeft(&c.Rec)})
			case scheduler.Withdraw:
				ended = append(ended, scheduler.Event{
					Kind: scheduler.Withdrawn, Unit: c.Unit, Untaken: d.attempts.Of(c.Unit).Untaken(),
				})
			case scheduler.Wait:
				// It waits for the next attempt of its revert.
				if c.Unit.Rec.State == states.TaskReverting {
					ended = append(ended, scheduler.Event{Kind: scheduler.Fired, Unit: c.Unit})
				}
			case scheduler.More:
				ended = append(ended, scheduler.Event{Kind: scheduler.Continue})
			case scheduler.Execute, scheduler.AskDeciders, scheduler.AskRetry, scheduler.Over:
				forward = true
			default:
			}
		}
		switch {
		case len(ended) > 0:
			ev, ended = ended[0], ended[1:]
		case forward, ev.Kind == scheduler.Idle && len(cmds) == 0:
			return undone
		default:
			ev = scheduler.Event{Kind: scheduler.Idle}
		}
	}
}

// beganNothing reports whether nothing was done in the run of an atom, which has ended, and in which nothing can be
// undone. If that is not known, it reports false: the preview then says that the work may stay done.
func (d *Driver) beganNothing(u *scheduler.Unit) bool {
	return u.BeginsRun() && !u.Reverts() && u.Rec.NoneBegunBefore() && d.nothingIn(d.attempts.RunOf(u))
}

// nothingIn reports whether nothing was done in a child run, which has ended.
func (r *run) nothingIn(id string) bool {
	child, err := r.env.Store.Run(r.ctx, id)
	if err != nil || child.Parent != r.Claim.Run {
		return false
	}
	nothing, err := unaffected(r, &child)
	return nothing && err == nil
}

// passedPivots returns the points of no return of a plan that have succeeded, the last first.
func (d *Driver) passedPivots() (passed []PreviewStep) {
	for i := range slices.Backward(d.plan.Atoms) {
		if u := d.s.Unit(int32(i)); u.Planned.IsPivot() && u.Rec.State == states.TaskSuccess {
			passed = append(passed, stopAt(u.Path))
		}
	}
	return passed
}

// stopAt returns the step of a point of no return.
func stopAt(path string) PreviewStep {
	return PreviewStep{Path: path, Status: storage.Status(states.TaskSuccess.String()), Stops: true}
}

// previewStack calls tell with the atoms that execute and can be undone, then with the
// entries of the undo stack, down to the entry that the command names.
func (d *Driver) previewStack(cmd *inbox.Command, live []storage.Atom, tell func(PreviewStep) bool) error {
	if cmd.Kind == inbox.Cancel && !cmd.Undo || cmd.Kind == inbox.Retry { // it undoes nothing
		return nil
	}
	if more, err := d.previewOpen(live, tell); !more || err != nil {
		return err
	}
	below := d.stack.size + 1
	if cmd.Kind == inbox.Skip {
		below--
	}
	for below > 1 {
		page, err := d.stackBelow(below)
		if err != nil || len(page) == 0 {
			return err
		}
		candidates, err := d.undoCandidates(page)
		if err != nil {
			return err
		}
		for _, u := range page {
			if cmd.Kind == inbox.RevertTo && u.Path == cmd.Path {
				return nil
			}
			if candidates[u.Path].bottom {
				tell(stopAt(u.Path))
				return nil
			}
			if at := candidates[u.Path]; !at.gone && !tell(at.step) {
				return nil
			}
		}
		below = page[len(page)-1].N
	}
	return nil
}

// previewOpen calls tell with the atoms that execute or have just ended, and can be undone. It reports whether the undo
// continues with the stack.
func (d *Driver) previewOpen(live []storage.Atom, tell func(PreviewStep) bool) (more bool, err error) {
	live = slices.Clone(live)
	slices.SortFunc(live, byUndo)
	for i := range live {
		l, err := d.Draft.Loaded(&live[i])
		if err != nil {
			return false, d.Wrap(err)
		}
		if l.Spec != nil && l.Spec.Pivot && l.Rec.State == states.TaskSuccess {
			tell(stopAt(l.Path))
			return false, nil
		}
		begun := l.Rec.Attempt > 0 && (!l.Rec.NoneBegunBefore() || !d.attempts.At(l.Path).Untaken())
		ended := l.Rec.State != states.TaskRunning // then its outcome is known
		if begun && l.Spec != nil && l.Spec.Undo != nil && (!ended || l.LeavesUndo()) && !tell(previewOf(&l)) {
			return false, nil
		}
	}
	return true, nil
}

// byUndo compares live atoms by when the undo reaches them, if the run is cancelled. What executes goes on the
// stack when its call has ended, so after what has ended. The others go there in the order of their paths.
func byUndo(a, b storage.Atom) int {
	ended := func(a storage.Atom) int {
		if a.State == states.TaskRunning {
			return 0
		}
		return 1
	}
	return cmp.Or(ended(a)-ended(b), nodepath.Compare(b.Path, a.Path))
}

// stackBelow returns a page of the stored undo stack.
func (r *run) stackBelow(below int64) ([]storage.Undo, error) {
	page, err := r.env.Store.Undos(r.ctx, r.Claim.Run, below, stackPage)
	return page, r.Wrap(err)
}

// undoCandidates returns the entries of a page by their paths.
func (r *run) undoCandidates(page []storage.Undo) (map[string]undoCandidate, error) {
	paths := make([]string, len(page))
	for i, u := range page {
		paths[i] = u.Path
	}
	found, err := r.env.Store.AtomsAt(r.ctx, r.Claim.Run, paths...)
	if err != nil {
		return nil, r.Wrap(err)
	}
	how := map[string]undoCandidate{}
	for i := range found {
		l, err := r.Draft.Loaded(&found[i])
		if err != nil {
			return nil, r.Wrap(err)
		}
		how[l.Path] = undoCandidate{
			step: previewOf(&l),
			gone: l.Rec.State == states.TaskReverted ||
				stays(&l) && (l.Rec.Intention == states.IntendRevert || r.leftNothing(&l, &found[i])),
			bottom: l.Spec != nil && l.Spec.Pivot && l.Rec.State == states.TaskSuccess,
		}
	}
	return how, nil
}

// leftNothing reports whether nothing was done in the run of a node that did not succeed.
func (r *run) leftNothing(l *scheduler.Loaded, a *storage.Atom) bool {
	if a.Kind != storage.KindRun || l.Rec.Ended == grow.EndValue || !l.Rec.NoneBegunBefore() {
		return false
	}
	id, _ := backend.BegunBy(r.Claim.Run, a)
	return id != "" && r.nothingIn(id)
}

// reverted is the status of what would be reverted.
var reverted = storage.Status(states.TaskReverted.String())

// stays reports whether nothing reverts a node, and it may have an effect.
func stays(l *scheduler.Loaded) bool { return l.Spec != nil && l.Spec.Undo != nil && l.Spec.Undo.Stays }

// previewOf returns what undoing a node would do.
func previewOf(l *scheduler.Loaded) PreviewStep {
	if stays(l) {
		return PreviewStep{Path: l.Path, Status: statusLeft(&l.Rec)}
	}
	return PreviewStep{Path: l.Path, Status: reverted}
}

// statusLeft returns the status of what undoing leaves as it is.
func statusLeft(r *scheduler.Record) storage.Status {
	if r.OutcomeUnknown() {
		return storage.StatusMayStayDone
	}
	return storage.StatusStaysDone
}
