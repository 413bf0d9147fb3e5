package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Mode determines how a run is driven.
type Mode struct {
	Unload bool            // release the run when it only waits, and return ErrWaiting
	Quiet  <-chan struct{} // closed when the process is stopping: start nothing more; may be nil
	Slot   *Slot           // held while the run does something; nil if the run needs none
	Places chan struct{}   // slots for child runs that are driven beside their parents
	Since  inbox.Mark      // read before the run was loaded
	Urgent bool            // an answer was given up because a request was pending
	Answer bool            // only answer requests, and release the run: what is to be executed then makes it due
	Begun  func()          // called when the next commit is durable; may be nil
	Held   bool            // the run is suspended, and only a command resumes it
	// Yield is called with each phase on Live's goroutine. If it returns false, the run comes to rest. It may be
	// nil.
	Yield func(states.Engine) bool
}

// New returns the driver of a run from the loaded snapshot. It returns an error if the stored
// data or the input is not valid. Close the driver, unless Live was called.
func New(ctx context.Context, env *Env, plan *flow.Plan, claim backend.Claim, snap *backend.Snapshot) (*Driver, error) {
	run := &snap.Run
	d := &Driver{}
	d.env, d.plan, d.ctx, d.storing = env, plan, ctx, context.WithoutCancel(ctx)
	d.secrets, d.trace, d.job, d.rests = run.Secrets, run.Trace, run.Job, run.State.Ended() || run.Hold
	d.notices.level = lowestLevel(env.Log)
	if above, driven := env.logs.Load(run.Parent); driven {
		d.notices.above, _ = above.(*lines)
	}
	d.notices.watched = len(env.Observers) > 0 || d.notices.level == hclog.Debug
	d.connect()
	d.stack.size = run.Undos
	d.mail.SetRead(run.Wakeups)
	d.children.family = family{parent: run.Parent, root: run.Root, depth: run.Depth, plain: run.PlainKeys}
	if err := d.findTasks(run); err != nil {
		return nil, err
	}
	env.Buffers.Lend(&d.Draft)
	d.Init(env.Store, env.Log, claim)
	d.Draft.Init(plan, run.ID, env.Quiet, backend.Head{
		Seq: run.Seq, State: run.State, Outcome: run.Outcome, Undo: run.Undo, Output: run.Output, Failure: run.Failure,
		Started: run.Started, Entries: run.Entries, Events: run.Events, Refs: run.Refs, Growth: run.Growth,
	})
	d.cycle.attempted = true // the last commit may have included an attempt beyond the limit
	if d.Draft.Head.Started.IsZero() {
		d.Draft.Head.Started = d.Draft.Now
	}
	whole := d.Draft.Held(run.Input)
	d.about = grow.RunInfo{
		ID: run.ID, Flow: run.Flow, Definition: run.Definition, Started: d.Draft.Head.Started, Input: whole,
		Attributes: run.Attrs, Key: run.Key, Continues: run.Continues,
	}
	symbols := map[string]atom.Value{}
	if !d.Grows() {
		var err error
		if symbols, err = SymbolsOf(whole); err != nil {
			return nil, fmt.Errorf("engine: run %q: %w", run.ID, err)
		}
	}
	d.s = scheduler.New(plan, symbols, whole)
	d.attempts.Init(run.ID, plan, d.s, &d.Draft, env.CutWaits)
	if err := d.load(snap); err != nil {
		return nil, err
	}
	d.ask.countReopens()
	d.calls.Init(ctx, &env.Calls, executor.Host{
		Claim: claim, Root: cmp.Or(run.Root, run.ID), Created: run.Created, Driver: &d.att,
	})
	d.att.unwatch = context.AfterFunc(d.ctx, d.calls.Halt)
	return d, nil
}

// connect gives the parts of the driver references to each other.
func (d *Driver) connect() {
	r := &d.run
	d.att = attention{
		run: r, mode: &d.Mode, suspend: d.env.Suspend,
		wake: make(chan struct{}, 1), handoff: make(chan struct{}, 1), rest: make(chan stopped, 1),
	}
	d.ask = asker{run: r, mode: &d.Mode, att: &d.att, open: &d.attempts}
	d.ask.timeSlice = timeSlice{since: d.env.Store.Now(), patience: patience}
	d.ask.interrupt = d.ask.interrupts
	d.children = children{
		run: r, mode: &d.Mode, att: &d.att, open: &d.attempts, calls: &d.calls, descent: descent{run: r},
	}
}

// findTasks finds the tasks that the run's atoms name.
func (d *Driver) findTasks(run *storage.Run) error {
	tasks, err := d.env.Runs.TasksOf(d.storing, run)
	if err != nil {
		return fmt.Errorf("engine: the tasks of run %q: %w", run.ID, err)
	}
	if d.tasks = tasks; tasks == nil {
		d.tasks = d.env.Tasks
	}
	return nil
}

// Close frees the resources of a driver except the run itself.
func (d *Driver) Close() {
	if d.att.expiry != nil {
		d.att.expiry.Stop()
	}
	d.att.unwatch()
	d.calls.Halt()
}

// SymbolsOf splits an input into its symbols.
func SymbolsOf(whole atom.Value) (map[string]atom.Value, error) {
	symbols, err := whole.Fields()
	if err != nil {
		return nil, fmt.Errorf("engine: the input is not an object whose members are symbols: %w", err)
	}
	return symbols, nil
}

// Result returns the current record of a run that was driven to rest, and the failures if the run did not succeed.
// Fields that driving did not change are those of the loaded record.
func (d *Driver) Result(run storage.Run) (storage.Run, []*atom.Failure) {
	h := &d.Draft.Head
	run.State, run.Outcome, run.Undo, run.Hold = h.State, h.Outcome, h.Undo, h.Hold
	run.Output, run.Failure = h.Output, h.Failure
	run.Started, run.Ended, run.Updated = h.Started, h.Ended, h.Time
	run.Seq, run.Entries, run.Events, run.Refs, run.Undos, run.Growth = h.Seq, h.Entries, h.Events, h.Refs, d.stack.size,
		h.Growth
	run.Owner = ""
	return run, d.cycle.over.Failures
}

// State returns the run's state after its last commit.
func (d *Driver) State() states.Flow { return d.Draft.Head.State }

// BeginAnew forgets how the run ended, because the run is driven again.
func (d *Driver) BeginAnew() {
	h := &d.Draft.Head
	h.Outcome, h.Output, h.Ended = storage.Unfinished, storage.Held{}, time.Time{}
}

// Reset makes a run that has ended PENDING again, as if it had never run, and releases it.
func (d *Driver) Reset() error {
	d.cycle.reopens = true
	if err := d.feed(scheduler.Event{Kind: scheduler.Reset}); err != nil {
		return err
	}
	h := &d.Draft.Head
	h.Outcome, h.Undo, h.Output, h.Failure = storage.Unfinished, storage.UndoNone, storage.Held{}, nil
	h.Started, h.Ended, h.Hold = time.Time{}, time.Time{}, false
	h.Release, h.Wakeups, d.Draft.Dirty = true, d.mail.Read(), true
	h.Memory = atom.Null
	return d.flush()
}

// HasRead sets the wakeup counter up to which the first messages were read.
func (d *Driver) HasRead(wakeups int64) { d.mail.SetRead(wakeups) }

// load restores the run from its snapshot.
func (d *Driver) load(snap *backend.Snapshot) error {
	run := &snap.Run
	records := make([]scheduler.Loaded, 0, len(snap.Atoms))
	for i := range snap.Atoms {
		l, err := d.Draft.Load(&snap.Atoms[i])
		if err != nil {
			return d.Wrap(err)
		}
		records = append(records, l)
		if l.Spec != nil && l.Spec.Group != nil {
			if records, err = d.loadEnded(&l, records); errors.Is(err, ErrStopped) {
				return err
			} else if err != nil {
				return d.Wrap(err)
			}
		}
	}
	if run.State != states.FlowPending || len(records) > 0 {
		pending, pendingFailure := pendingOf(run)
		d.s.Load(&scheduler.Saved{
			Flow: run.State, Memory: run.Memory, Records: records, Undos: run.Undos,
			Unwound: run.Undo != storage.UndoNone && !run.AsksPerson(), PendingOutcome: pending, PendingFailure: pendingFailure,
		})
	}
	d.attempts.Load(snap)
	for _, t := range snap.Timers {
		if t.Kind == storage.TimerDeadline {
			d.setDeadline(t.Due)
		}
	}
	return nil
}
