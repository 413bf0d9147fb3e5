package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Mode is how a run is driven.
type Mode struct {
	Unload bool                     // release the run when it only waits, and return ErrWaiting
	Quiet  <-chan struct{}          // closed when nothing more is to be begun, and the process stops when all has ended; may be nil
	Slot   *Slot                    // taken while the run does something; nil when it needs none
	Places chan struct{}            // for runs that are driven beside those that have begun them
	Since  inbox.Mark               // from before the run was loaded
	Urgent bool                     // an answer was given up because something was wanted of the run
	Yield  func(states.Engine) bool // told of the phases, on the goroutine that drives; false: come to rest; may be nil
}

// New returns the driver of a run, made from what was loaded of it. It returns errors of the
// store's data and of the input. Close it, unless Live was called.
func New(ctx context.Context, env *Env, plan *flow.Plan, claim storage.Claim, snap *storage.Snapshot) (*Driver, error) {
	run := &snap.Run
	d := &Driver{
		env: env, plan: plan, ctx: ctx, storing: context.WithoutCancel(ctx), claim: claim, secrets: run.Secrets, undos: run.Undos,
		parent: run.Parent, root: run.Root, depth: run.Depth, trace: run.Trace, job: run.Job,
		external: map[string]*external{}, children: map[string]*scheduler.Node{},
		suspend: env.Suspend, wakeups: run.Wakeups,
		wake: make(chan struct{}, 1), handoff: make(chan struct{}, 1), rest: make(chan stopped, 1),

		watched: len(env.Observers) > 0 || env.Log.IsDebug(),
		stretch: stretch{since: time.Now(), patience: patience},
	}
	d.interrupt = d.interrupts
	if err := d.findTasks(run); err != nil {
		return nil, err
	}
	env.Buffers.Lend(&d.next)
	d.next.Now = time.Now()
	d.next.Init(plan, run.ID, env.Quiet, storage.Head{
		Seq: run.Seq, State: run.State, Outcome: run.Outcome, Undo: run.Undo, Output: run.Output, Failure: run.Failure,
		Started: run.Started, Entries: run.Entries, Events: run.Events, Refs: run.Refs, Growth: run.Growth,
	})
	d.attempted = true // an attempt too many may have been committed
	if d.next.Head.Started.IsZero() {
		d.next.Head.Started = d.next.Now
	}
	whole := d.next.Held(run.Input)
	d.about = flow.Run{ID: run.ID, Flow: run.Flow, Definition: run.Definition, Started: d.next.Head.Started, Input: whole, Attributes: run.Attrs}
	symbols := map[string]atom.Value{}
	if !d.Grows() {
		var err error
		if symbols, err = SymbolsOf(whole); err != nil {
			return nil, fmt.Errorf("engine: run %q: %w", run.ID, err)
		}
	}
	d.s = scheduler.New(plan, symbols, whole)
	if err := d.load(snap); err != nil {
		return nil, err
	}
	d.calls.Init(ctx, &env.Calls, executor.Host{Claim: claim, Created: run.Created, Driver: d})
	d.unwatch = context.AfterFunc(d.ctx, d.calls.Halt)
	return d, nil
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

// Close frees what a driver holds beside its run.
func (d *Driver) Close() {
	if d.expiry != nil {
		d.expiry.Stop()
	}
	d.unwatch()
	d.calls.Halt()
}

// Grows reports whether the flow is a growing one, which is then the whole plan.
func (d *Driver) Grows() bool { return Grows(d.plan) }

// Grows reports whether the flow of a plan is a growing one.
func Grows(p *flow.Plan) bool { return len(p.Atoms) == 1 && p.Atoms[0].Language != nil }

// Owns reports whether the run was taken over: a claim by [storage.Store.Due] or
// [storage.ClaimNew] begins with the first commit.
func (d *Driver) Owns() bool { return d.claim.Begins <= d.next.Head.Seq }

// SymbolsOf takes an input apart into its symbols.
func SymbolsOf(whole atom.Value) (map[string]atom.Value, error) {
	symbols, err := whole.Fields()
	if err != nil {
		return nil, fmt.Errorf("engine: the input is no object whose members are symbols: %w", err)
	}
	return symbols, nil
}
