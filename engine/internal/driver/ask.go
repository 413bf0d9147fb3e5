package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/internal/tasktoken"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// askRetry asks a retry's controller how to handle a failure.
func (q *asker) askRetry(cmd *scheduler.Command) (ev scheduler.Event, err error) {
	a := cmd.Unit.Planned
	ev = scheduler.Event{Kind: scheduler.Answered, Failure: cmd.Missing}
	if cmd.Missing != nil {
		return ev, nil //nolint:nilerr // it is the failure of the atom
	}
	tries, err := q.tries(cmd.Unit.Index, &cmd.Tries)
	if err != nil {
		return ev, err
	}
	var wrong error
	broke := q.answer(func() { ev.Decision, wrong = a.Controller().OnFailure(tries, cmd.Values) })
	if err := cmp.Or(broke, wrong); err != nil {
		ev.Failure = atom.NewFailure(a.Name(), 0, err)
	}
	return ev, nil
}

// nextTry asks a retry's controller for the value of the next try, or lets the
// controller revert.
func (q *asker) nextTry(c *executor.Call) (ev scheduler.Event, err error) {
	a := c.Unit.Planned
	ev = scheduler.Event{Kind: scheduler.Completed, Unit: c.Unit, Revert: c.About.Revert, Failure: c.Missing}
	if c.Missing != nil {
		return ev, nil //nolint:nilerr // it is the failure of the atom
	}
	tries, err := q.tries(c.Unit.Index, &c.Detail.Tries)
	if err != nil {
		return ev, err
	}
	var broke, wrong error
	if undoer, ok := a.Controller().(atom.Undoer); ok && c.About.Revert {
		ev.Result = atom.Null
		ctx := atom.WithCall(context.WithoutCancel(q.ctx), &c.About)
		broke = q.answer(func() { wrong = undoer.Undo(ctx, tries, c.Detail.Outcome.Failures()) })
	} else if c.About.Revert {
		ev.Result = atom.Null
	} else {
		broke = q.answer(func() { ev.Result, wrong = a.Controller().Next(tries, c.Values) })
	}
	if err := cmp.Or(broke, wrong); err != nil {
		ev.Failure = atom.NewFailure(a.Name(), c.About.Attempt, err)
	}
	return ev, nil
}

// tries returns the tries with which to ask a retry's controller. It returns a *StoreError.
func (q *asker) tries(a int32, newest *atom.History) (atom.History, error) {
	return q.Draft.Tries(a, newest, func(path string) (atom.History, error) {
		h, err := q.env.Store.Tries(q.storing, q.Claim.Run, path)
		if err != nil {
			return h, q.Wrap(err)
		}
		return h, nil
	})
}

// askDeciders asks all deciders that have a vote on an atom.
func (q *asker) askDeciders(cmd *scheduler.Command) (ev scheduler.Event) {
	a := cmd.Unit.Planned
	ev = scheduler.Event{Kind: scheduler.Voted}
	results := flow.Results{}
	for _, dec := range a.Deciders {
		if dec.Source >= 0 {
			if v, ok := q.s.ValueOf(dec.Source); ok {
				results[q.plan.Atoms[dec.Source].Name()] = v
			}
		}
	}
	for _, dec := range a.Deciders {
		if dec.Source >= 0 && q.s.Ignored(dec.Source) {
			continue // a decider that was left out has no vote
		}
		var value atom.Value
		if dec.Decider.Symbol != "" {
			v, ok := q.s.Lookup(cmd.Unit, dec.Decider.Symbol)
			if !ok {
				ev.Failure = &atom.Failure{
					Atom: a.Name(), Code: atom.CodeNotFound,
					Message: fmt.Sprintf("a decider reads %q, which has no value", dec.Decider.Symbol),
				}
				return ev
			}
			value = v
		}
		var yes bool
		var wrong error
		broke := q.answer(func() { yes, wrong = dec.Decider.Decide(value, results) })
		if err := cmp.Or(broke, wrong); err != nil {
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
func (q *asker) askLanguage(cmd *scheduler.Command) (ev scheduler.Event, err error) {
	failpoint.Hit("engine.growth")
	ev = scheduler.Event{Kind: scheduler.Grown}
	if unmocked(cmd.Cause) && !q.s.IsEnding() {
		return scheduler.Event{Kind: scheduler.Exceeded, Failure: cmd.Cause.Failure}, nil
	}
	q.countReopens()
	ask := &grow.Ask{
		Run: &q.about, Path: cmd.Scope.Path, Index: cmd.Scope.Index, Memory: cmd.Scope.Memory,
		Cause: *cmd.Cause, Now: q.Draft.Now, Event: q.Draft.Head.Events + 1, Quiet: q.env.Quiet && !q.notices.watched,
		Random: rand.Uint64, Token: tasktoken.New,
		Interrupted: q.interrupt,
	}
	if fork := cmd.Scope.Parent; fork != nil {
		ask.Outer = q.s.Outer()
		ask.Shared = fork.Spec.Group.Shared
		ask.Memo = q.Draft.Memo(fork, ask.Shared)
	}
	ask.Recall = func(name string) (past grow.Past, ok bool) {
		if q.interrupts() || !q.att.answer.pause() {
			return past, false
		}
		defer q.att.answer.resume()
		if err == nil {
			past, ok, err = q.recall(cmd.Scope.Inside(name))
		}
		return past, ok
	}
	ask.Queue = func(name string) (missing error) {
		if q.interrupts() || !q.att.answer.pause() {
			return nil
		}
		defer q.att.answer.resume()
		missing = q.env.Runs.Queue(q.storing, &q.about, name)
		if missing != nil && !errors.Is(missing, storage.ErrNotFound) {
			err = cmp.Or(err, q.Wrap(missing))
		}
		return missing
	}
	growth, untold := q.notTold(&ask.Cause)
	var broke error
	if !untold {
		broke = q.answer(func() { growth = q.language().Grow(ask) })
	}
	if !q.answered() {
		return q.later(), err
	}
	if broke != nil {
		ev.Failure = atom.NewFailure(cmd.Scope.Path, 0, broke)
		ev.Growth = &grow.Growth{End: &grow.End{Failure: ev.Failure}}
		return ev, nil
	}
	if cmd.Cause.Call && growth.Refuse != nil {
		ev.Growth = &grow.Growth{Refuse: growth.Refuse}
		return ev, err
	}
	if end := growth.End; end != nil && end.Failure != nil {
		end.Failure = end.Failure.Bounded()
	}
	if err != nil {
		return ev, err
	}
	if q.stopFollows && growth.End != nil && cmd.Scope.Parent == nil {
		q.endHeld = true
		return q.later(), nil // the stop tells the language what it has been told, see [grow.Cause.Accepted]
	}
	instead, impossible, err := q.accept(cmd, &growth)
	if impossible != nil {
		ev.Growth, ev.Failure = &grow.Growth{End: &grow.End{Failure: impossible}}, impossible
	}
	if err != nil || impossible != nil {
		return ev, err
	}
	if instead != nil {
		return *instead, nil
	}
	q.choose(cmd.Scope, &growth)
	ev.Growth = &growth
	return ev, nil
}

// unmocked reports whether a node failed because a test has no mock for it. No language is asked about this failure,
// also of a branch, an item or a child run: if a catcher or a tolerance handled it, the test would seem to pass.
func unmocked(c *grow.Cause) bool {
	return c.Kind != grow.Stopped && c.Failure != nil && c.Failure.Code == atom.CodeNoMock
}

// accept checks an answer. If the answer is not valid, it returns a failure of the flow. If the run cannot take the
// answer now, or has reached a limit, it returns the event that happens instead.
func (q *asker) accept(cmd *scheduler.Command, growth *grow.Growth) (
	instead *scheduler.Event, broke *atom.Failure, err error,
) {
	if err := (&backend.Checkpoint{Labels: growth.Labels}).Check(); err != nil {
		return nil, &atom.Failure{Atom: cmd.Scope.Path, Code: atom.CodeLanguage, Message: err.Error()}, nil
	}
	if broke, err = q.named(cmd, growth.Add); broke != nil || err != nil {
		return nil, broke, err
	}
	if q.exceeds(cmd, growth) {
		later := q.later()
		return &later, nil, nil
	}
	if exceeded := q.count(cmd, growth); exceeded != nil {
		return &scheduler.Event{Kind: scheduler.Exceeded, Failure: exceeded}, nil, nil //nolint:nilerr // the event has it
	}
	if end := growth.End; end != nil && end.Successor != nil && cmd.Scope.Parent == nil {
		failed, err := q.refuseSuccessor(end)
		if failed != nil {
			growth.End = &grow.End{Failure: failed}
		}
		return nil, nil, err
	}
	return nil, nil, nil
}

// named returns a failure if an answer reuses the name of a node that is done and can still be undone: the new
// record would replace the record of that node, and so prevent its undo. Ebb's own languages number their nodes, so
// named reads nothing for them.
func (q *asker) named(asked *scheduler.Command, add []grow.Spec) (*atom.Failure, error) {
	if _, numbers := q.language().(grow.Numbering); numbers {
		return nil, nil //nolint:nilnil // nothing is wrong
	}
	for i := range add {
		// The node that has just ended is not on the stack yet.
		if q.stack.size == 0 && add[i].Name != asked.Cause.Name {
			continue
		}
		path := asked.Scope.Inside(add[i].Name)
		a, ok := q.Draft.Gathered(path)
		if !ok {
			var err error
			if a, err = q.env.Store.Atom(q.storing, q.Claim.Run, path); errors.Is(err, storage.ErrNotFound) {
				continue
			} else if err != nil {
				return nil, q.Wrap(err)
			}
		}
		l, err := q.Draft.Loaded(&a)
		if err != nil {
			return nil, q.Wrap(err)
		}
		if l.Spec != nil && l.Spec.Reverts() && l.Rec.State != states.TaskReverted {
			return &atom.Failure{Atom: path, Code: atom.CodeLanguage, Message: fmt.Sprintf(
				"the flow's language added a second node named %q, and the first can still be undone; give each node a name of "+
					"its own", add[i].Name)}, nil
		}
	}
	return nil, nil //nolint:nilnil // nothing is wrong
}

// recall returns how a node ended, from the store or the pending checkpoint.
func (q *asker) recall(path string) (grow.Past, bool, error) {
	a, ok := q.Draft.Gathered(path)
	if !ok {
		var err error
		if a, err = q.env.Store.Atom(q.storing, q.Claim.Run, path); errors.Is(err, storage.ErrNotFound) {
			return grow.Past{}, false, nil
		} else if err != nil {
			return grow.Past{}, false, q.Wrap(err)
		}
	}
	past := grow.Past{
		Open: a.Live, Input: a.Input.Data, Note: a.Note.Data, Failure: a.Failure, Started: a.StartedAt, Ended: a.EndedAt,
	}
	if a.State == states.TaskSuccess {
		past.Result = a.Result.Data
	}
	return past, true, nil
}

func (q *asker) language() grow.Language { return q.plan.Atoms[0].Language }

// askUndo makes a call ask for the input of the task that undoes a node.
func (q *asker) askUndo(cmd *scheduler.Command, c *executor.Call) {
	run, spec := q.about, cmd.Unit.Node.Spec
	ask := &grow.UndoAsk{
		Run: &run, Path: cmd.Unit.Path, Spec: &spec, Did: cmd.Outcome, Now: q.Draft.Now,
		Interrupted: c.Unwanted,
	}
	language := q.language()
	c.Ask = func() (atom.Value, error) { return language.Undo(ask) }
}

// countReopens tells the language how often the run was reopened. The run's own flow has an incarnation for each.
func (q *asker) countReopens() {
	if !q.Grows() {
		return
	}
	if n := int(q.s.Unit(0).Rec.Incarnation); n > 0 {
		q.about.Reopens, q.about.Reopened = n, q.Draft.BeganAt(0)
	}
}

// choose replaces child runs in an answer by tasks, if a task stands in for the run.
func (q *asker) choose(scope *scheduler.Scope, growth *grow.Growth) {
	chooser, ok := q.env.Tasks.(Chooser)
	if !ok {
		return
	}
	for i := range growth.Add {
		if s := &growth.Add[i]; s.Kind == grow.Nested && s.Task != "" && chooser.Instead(s.Task, scope.Inside(s.Name)) {
			s.Kind, s.Child = grow.Work, nil
		}
	}
}
