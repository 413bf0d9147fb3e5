package driver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// askRetry asks a retry's controller what the failure it was charged means.
func (d *Driver) askRetry(cmd *scheduler.Command) (ev scheduler.Event, err error) {
	a := d.plan.Atoms[cmd.Atom]
	ev = scheduler.Event{Kind: scheduler.Answered, Failure: cmd.Missing}
	if cmd.Missing != nil {
		return ev, nil
	}
	tries, err := d.tries(cmd.Atom, &cmd.Tries)
	if err != nil {
		return ev, err
	}
	defer executor.Guard(a.Name(), &ev.Failure)
	decision, wrong := d.decideFailure(a.Controller(), tries, cmd.Values)
	if wrong != nil {
		ev.Failure = atom.NewFailure(a.Name(), 0, wrong)
	}
	ev.Decision = decision
	return ev, nil
}

// nextTry asks a retry's controller for the value of the next try, or lets it
// undo what it did.
func (d *Driver) nextTry(c *executor.Call) (ev scheduler.Event, err error) {
	a := d.plan.Atoms[c.Atom]
	ev = scheduler.Event{Kind: scheduler.Completed, Atom: c.Atom, Revert: c.About.Revert, Failure: c.Missing}
	if c.Missing != nil {
		return ev, nil
	}
	tries, err := d.tries(c.Atom, &c.Detail.Tries)
	if err != nil {
		return ev, err
	}
	defer executor.Guard(a.Name(), &ev.Failure)
	var wrong error
	if undoer, ok := a.Controller().(atom.Undoer); ok && c.About.Revert {
		ev.Result = atom.Null
		ctx := atom.WithCall(context.WithoutCancel(d.ctx), &c.About)
		wrong = d.undoTries(ctx, undoer, tries, c.Detail.Outcome.Failures())
	} else if c.About.Revert {
		ev.Result = atom.Null
	} else {
		ev.Result, wrong = d.nextValue(a.Controller(), tries, c.Values)
	}
	if wrong != nil {
		ev.Failure = atom.NewFailure(a.Name(), c.About.Attempt, wrong)
	}
	return ev, nil
}

// tries returns what a retry's controller is asked about. It returns a *StoreError.
func (d *Driver) tries(a int32, newest *atom.History) (atom.History, error) {
	return d.next.Tries(a, newest, func(path string) (atom.History, error) {
		h, err := d.env.Store.Tries(d.storing, d.claim.Run, path)
		if err != nil {
			return h, storeError(d.claim.Run, err)
		}
		return h, nil
	})
}

// askDeciders asks all deciders that speak about an atom.
func (d *Driver) askDeciders(cmd *scheduler.Command) (ev scheduler.Event) {
	a := &d.plan.Atoms[cmd.Atom]
	ev = scheduler.Event{Kind: scheduler.Voted}
	defer executor.Guard(a.Name(), &ev.Failure)
	results := flow.Results{}
	for _, dec := range a.Deciders {
		if dec.Source >= 0 {
			if v, ok := d.s.ValueOf(dec.Source); ok {
				results[d.plan.Atoms[dec.Source].Name()] = v
			}
		}
	}
	for _, dec := range a.Deciders {
		if dec.Source >= 0 && d.s.Ignored(dec.Source) {
			continue // one that was left out has no vote
		}
		var value atom.Value
		if dec.Decider.Symbol != "" {
			v, ok := d.s.Lookup(cmd.Atom, dec.Decider.Symbol)
			if !ok {
				ev.Failure = &atom.Failure{
					Atom: a.Name(), Code: atom.CodeNotFound,
					Message: fmt.Sprintf("a decider looks at %q, which has no value", dec.Decider.Symbol),
				}
				return ev
			}
			value = v
		}
		yes, err := d.vote(dec.Decider, value, results)
		if err != nil {
			ev.Failure = atom.NewFailure(a.Name(), 0, err)
			return ev
		}
		if !yes && (!ev.Nay || dec.Depth < ev.Depth) {
			ev.Nay, ev.Depth = true, dec.Depth
		}
	}
	return ev
}

// askLanguage asks the language of a growing flow what comes next.
func (d *Driver) askLanguage(cmd *scheduler.Command) (ev scheduler.Event, err error) {
	failpoint.Hit("engine.growth")
	ev = scheduler.Event{Kind: scheduler.Grown}
	var broke *atom.Failure
	defer func() {
		switch {
		case broke == nil:
		case d.answered():
			ev.Growth = &flow.Growth{End: &flow.End{Failure: broke}}
		default:
			ev = d.later()
		}
	}()
	defer executor.Guard(cmd.Scope.Path, &broke)
	ask := &flow.Ask{
		Run: &d.about, Path: cmd.Scope.Path, Index: cmd.Scope.Index, Memory: cmd.Scope.Memory,
		Cause: *cmd.Cause, Now: d.next.Now, Event: d.next.Head.Events + 1, Quiet: d.env.Quiet && !d.watched, Random: rand.Uint64, Token: newToken,
		Interrupted: d.interrupt,
	}
	if fork := cmd.Scope.Parent; fork != nil {
		ask.Outer = d.s.Outer()
		ask.Shared = fork.Spec.Group.Shared
		ask.Memo = d.next.Memo(fork, ask.Shared)
	}
	ask.Recall = func(name string) (past flow.Past, ok bool) {
		if d.interrupts() || !d.answers.pause() {
			return past, false
		}
		defer d.answers.resume()
		if err == nil {
			past, ok, err = d.recall(cmd.Scope.Inside(name))
		}
		return past, ok
	}
	growth, untold := d.notTold(&ask.Cause)
	if !untold {
		growth = d.grow(ask)
	}
	if !d.answered() {
		return d.later(), err
	}
	if end := growth.End; end != nil && end.Failure != nil {
		end.Failure = end.Failure.Bounded()
	}
	if err := (&storage.Checkpoint{Labels: growth.Labels}).Check(); err != nil {
		broke = &atom.Failure{Atom: cmd.Scope.Path, Code: atom.CodeLanguage, Message: err.Error()}
	}
	if err == nil && broke == nil {
		broke, err = d.named(cmd, growth.Add)
	}
	if err == nil && broke == nil {
		if d.exceeds(cmd, &growth) {
			return d.later(), nil
		}
		if f := d.count(cmd, &growth); f != nil {
			return scheduler.Event{Kind: scheduler.Exceeded, Failure: f}, nil
		}
	}
	d.choose(cmd.Scope, &growth)
	ev.Growth = &growth
	return ev, err // with an error the answer rests on nothing
}

// named returns the failure of an answer that adds a node by the name of one that was
// done and can still be undone: the record of that one would be lost, and so its undo. A
// language of Ebb's own numbers its nodes, so that nothing is read for it.
func (d *Driver) named(asked *scheduler.Command, add []flow.Spec) (*atom.Failure, error) {
	if _, numbers := d.language().(flow.Numbering); numbers {
		return nil, nil //nolint:nilnil // nothing is wrong
	}
	for i := range add {
		if d.undos == 0 && add[i].Name != asked.Cause.Name { // the one that has just ended is not on the stack yet
			continue
		}
		path := asked.Scope.Inside(add[i].Name)
		a, ok := d.next.Gathered(path)
		if !ok {
			var err error
			if a, err = d.env.Store.Atom(d.storing, d.claim.Run, path); errors.Is(err, storage.ErrNotFound) {
				continue
			} else if err != nil {
				return nil, storeError(d.claim.Run, err)
			}
		}
		l, err := d.next.Loaded(&a)
		if err != nil {
			return nil, storeError(d.claim.Run, err)
		}
		if l.Spec != nil && l.Spec.Undo != nil && l.Rec.State != states.TaskReverted {
			return &atom.Failure{Atom: path, Code: atom.CodeLanguage, Message: fmt.Sprintf(
				"the flow's language added a second node named %q, and the first can still be undone; give each node a name of its own", add[i].Name)}, nil
		}
	}
	return nil, nil //nolint:nilnil // nothing is wrong
}

// recall tells what became of a node, as it is kept or about to be.
func (d *Driver) recall(path string) (flow.Past, bool, error) {
	a, ok := d.next.Gathered(path)
	if !ok {
		var err error
		if a, err = d.env.Store.Atom(d.storing, d.claim.Run, path); errors.Is(err, storage.ErrNotFound) {
			return flow.Past{}, false, nil
		} else if err != nil {
			return flow.Past{}, false, storeError(d.claim.Run, err)
		}
	}
	past := flow.Past{
		Open: a.Live, Input: a.Input.Data, Note: a.Note.Data, Failure: a.Failure, Started: a.StartedAt, Ended: a.EndedAt,
	}
	if a.State == states.TaskSuccess {
		past.Result = a.Result.Data
	}
	return past, true, nil
}

func (d *Driver) language() flow.Language { return d.plan.Atoms[0].Language }

// askUndo lets a call ask what the task that undoes a node is to be given.
func (d *Driver) askUndo(cmd *scheduler.Command, c *executor.Call) {
	run, spec := d.about, cmd.Node.Spec
	ask := &flow.UndoAsk{Run: &run, Path: cmd.Node.Path, Spec: &spec, Did: cmd.Outcome, Now: d.next.Now, Interrupted: c.Unwanted}
	language := d.language()
	c.Ask = func() (atom.Value, error) { return language.Undo(ask) }
}
