package scheduler_test

import (
	"context"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/engine/internal/taskflowtest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
)

// A driver drives the scheduler of one case in the simplest way. It makes calls as it meets their commands, one after
// the other, and persists copies.
type driver struct {
	t     rapid.TB
	c     *conformance.TaskFlowCase
	world *taskflowtest.World
	plan  *flow.Plan
	sched *scheduler.Scheduler
	watch func(ev scheduler.Event, cmds []scheduler.Command) // sees every step
	saw   func(c *scheduler.Command)                         // sees every change of an atom, before it is kept

	rested func() // is called when the run has come to rest

	writes  int
	crashAt int // after which write the process dies; 0 is never

	root   func() flow.Node // what to run, when it is not the case's flow
	waits  map[int32]time.Time
	now    time.Time
	waited time.Duration // in all

	// next selects the completion that is reported next; -1 means none yet.
	next func(n int) int

	kept struct {
		flow    states.Flow
		memory  atom.Value
		records []scheduler.Record
	}

	run       conformance.TaskFlowRun
	interrupt *conformance.TaskFlowInterrupt
	hits      int
	fired     bool
	done      bool
	answer    *scheduler.Event
	ended     []scheduler.Event // completions not reported yet
}

func newDriver(t rapid.TB, c *conformance.TaskFlowCase) (*driver, error) {
	t.Helper()
	d := &driver{t: t, c: c, world: taskflowtest.NewWorld(), next: func(int) int { return 0 }}
	if err := d.build(); err != nil {
		return nil, err
	}
	d.kept.records = make([]scheduler.Record, len(d.plan.Atoms))
	return d, nil
}

// build makes a new scheduler over a newly built flow.
func (d *driver) build() error {
	root, inputs := taskflowtest.Build(d.c, d.world)
	if d.root != nil {
		root = d.root()
	}
	plan, err := flow.Compile(root, inputs)
	if err != nil {
		return err
	}
	d.plan, d.sched = plan, scheduler.New(plan, taskflowtest.Inputs(d.c), nil)
	return nil
}

// reload continues with only the persisted records.
func (d *driver) reload() {
	if err := d.build(); err != nil {
		d.t.Fatal(err)
	}
	loaded := make([]scheduler.Loaded, len(d.plan.Atoms))
	for i := range loaded {
		loaded[i] = scheduler.Loaded{Path: d.plan.Atoms[i].Name(), Rec: d.kept.records[i]}
	}
	d.sched.Load(&scheduler.Saved{Flow: d.kept.flow, Memory: d.kept.memory, Records: loaded})
}

// play plays a whole case.
func (d *driver) play() *conformance.TaskFlowOutcome {
	out := &conformance.TaskFlowOutcome{}
	waiting := d.c.Interrupts
	for op, fresh := "run", false; ; {
		d.interrupt = nil
		if len(waiting) > 0 {
			d.interrupt = &waiting[0]
		}
		out.Runs = append(out.Runs, d.segment(op, fresh))
		if !d.fired {
			break
		}
		waiting = waiting[1:]
		out.InterruptsFired++
		mode := d.interrupt.Mode
		if mode != "crash" && d.run.Flow != "SUSPENDED" {
			break
		}
		if fresh = mode != "suspend"; fresh {
			op = "reload_run"
			d.reload()
		} else {
			op = "run"
		}
	}
	d.interrupt = nil
	for _, op := range d.c.After {
		out.Runs = append(out.Runs, d.segment(op, false))
	}
	d.reload()
	out.Final = taskflowtest.Final(d.c, d.plan, d.sched)
	return out
}

// segment runs until the run rests or crashes.
func (d *driver) segment(op string, fresh bool) conformance.TaskFlowRun {
	d.run = conformance.TaskFlowRun{Op: op}
	d.hits, d.fired, d.done, d.answer, d.ended, d.waits = 0, false, false, nil, nil, map[int32]time.Time{}
	if op == "reset_run" {
		d.step(scheduler.Event{Kind: scheduler.Reset})
	}
	for ev := (scheduler.Event{Kind: scheduler.Begin, Fresh: fresh}); ; ev = d.following() {
		d.step(ev)
		if d.done || d.run.Crashed {
			break
		}
	}
	if d.rested != nil && d.done {
		d.rested()
	}
	d.run.Calls = d.world.Calls()
	d.run.Flow = d.kept.flow.String()
	return d.run
}

// following returns the next event: an answer, a completion, or Idle.
func (d *driver) following() scheduler.Event {
	if ev := d.answer; ev != nil {
		d.answer = nil
		return *ev
	}
	if len(d.ended) > 0 {
		if i := d.next(len(d.ended)); i >= 0 {
			ev := d.ended[i]
			d.ended = slices.Delete(d.ended, i, i+1)
			return ev
		}
	}
	return scheduler.Event{Kind: scheduler.Idle}
}

// step reports one event and carries out the commands.
func (d *driver) step(ev scheduler.Event) {
	ev.Now = d.now
	cmds := slices.Clone(d.sched.Step(ev))
	if d.watch != nil {
		d.watch(ev, cmds)
	}
	if ev.Kind == scheduler.Idle && len(cmds) == 0 && len(d.ended) == 0 {
		d.wait()
	}
	for i := range cmds {
		if d.saw != nil && cmds[i].Op == scheduler.Notify {
			d.saw(&cmds[i])
		}
		if d.do(&cmds[i]); d.run.Crashed {
			return
		}
		if op := cmds[i].Op; op == scheduler.Write || op == scheduler.Notify || op == scheduler.FlowState || op == scheduler.Remember {
			if d.writes++; d.writes == d.crashAt {
				d.run.Crashed = true
				return
			}
		}
	}
}

// wait lets time pass until the first wait ends.
func (d *driver) wait() {
	if len(d.waits) == 0 {
		d.t.Fatalf("stalled in %v", d.sched.Flow())
	}
	byDue := func(a, b int32) int { return d.waits[a].Compare(d.waits[b]) }
	a := slices.MinFunc(slices.Sorted(maps.Keys(d.waits)), byDue)
	d.waited += d.waits[a].Sub(d.now)
	d.now = d.waits[a]
	delete(d.waits, a)
	d.answer = &scheduler.Event{Kind: scheduler.Fired, Unit: d.sched.Unit(a)}
}

func (d *driver) do(c *scheduler.Command) {
	switch c.Op {
	case scheduler.Write:
		d.kept.records[c.Unit.Index] = c.Rec
	case scheduler.Notify:
		d.kept.records[c.Unit.Index] = c.Rec
		a := c.Unit.Planned
		d.tell(a.Name(), c.To.String(), []string{kind(a.Kind()), a.Name(), c.From.String(), c.To.String()})
	case scheduler.FlowState:
		d.kept.flow = c.FlowTo
		d.tell("", c.FlowTo.String(), []string{"F", c.FlowFrom.String(), c.FlowTo.String()})
	case scheduler.Wait:
		d.waits[c.Unit.Index] = c.Due
	case scheduler.Unwait:
		delete(d.waits, c.Unit.Index)
	case scheduler.Stays:
	case scheduler.Remember:
		d.kept.memory = c.Memory
	case scheduler.Execute:
		d.ended = append(d.ended, d.execute(c))
	case scheduler.Revert:
		d.ended = append(d.ended, d.revert(c))
	case scheduler.AskRetry:
		d.answer = d.askRetry(c)
	case scheduler.AskDeciders:
		d.answer = d.askDeciders(c.Unit.Index)
	case scheduler.More:
		d.answer = &scheduler.Event{Kind: scheduler.Continue}
	case scheduler.Over:
		d.done = true
		if c.FlowTo == states.FlowFailure || c.FlowTo == states.FlowReverted {
			d.run.Raised = []string{}
			for _, f := range c.Failures {
				d.run.Raised = append(d.run.Raised, taskflowtest.Show(f))
			}
			slices.Sort(d.run.Raised)
		}
	default:
		d.t.Fatalf("unexpected command %d", c.Op)
	}
}

func kind(k atom.Kind) string {
	if k == atom.KindRetry {
		return "R"
	}
	return "T"
}

// tell notes a notification, and interrupts the run where the case says so.
func (d *driver) tell(name, state string, change conformance.TaskFlowChange) {
	d.run.Trace = append(d.run.Trace, change)
	in := d.interrupt
	if in == nil || d.fired {
		return
	}
	if name != in.At.Atom || name == "" && state != in.At.Flow || name != "" && state != in.At.State {
		return
	}
	if d.hits++; d.hits != max(in.At.Nth, 1) {
		return
	}
	d.fired = true
	if in.Mode == "crash" {
		d.run.Crashed = true
		return
	}
	d.step(scheduler.Event{Kind: scheduler.Suspend})
}

func (d *driver) execute(c *scheduler.Command) scheduler.Event {
	a := c.Unit.Planned
	ev := scheduler.Event{Kind: scheduler.Completed, Unit: c.Unit, Failure: c.Missing}
	if c.Missing != nil {
		return ev
	}
	c.Unit.MarkCalled()
	var err error
	if a.Kind() == atom.KindRetry {
		ev.Result, err = a.Controller().Next(c.Tries, c.Values)
	} else {
		ev.Result, err = a.Body().Execute(context.Background(), c.Values)
	}
	ev.Failure = failure(a.Name(), err)
	return ev
}

func (d *driver) revert(c *scheduler.Command) scheduler.Event {
	a := c.Unit.Planned
	ev := scheduler.Event{Kind: scheduler.Completed, Unit: c.Unit, Revert: true, Failure: c.Missing}
	if c.Missing != nil {
		return ev
	}
	var err error
	if a.Kind() == atom.KindRetry {
		if undoer, ok := a.Controller().(atom.Undoer); ok {
			err = undoer.Undo(context.Background(), c.Tries, c.Outcome.Failures())
		}
	} else {
		ev.Result, err = a.Body().Revert(context.Background(), c.Values, c.Outcome)
	}
	ev.Failure = failure(a.Name(), err)
	return ev
}

func (d *driver) askRetry(c *scheduler.Command) *scheduler.Event {
	a := c.Unit.Planned
	ev := &scheduler.Event{Kind: scheduler.Answered, Failure: c.Missing}
	if c.Missing == nil {
		var err error
		ev.Decision, err = a.Controller().OnFailure(c.Tries, c.Values)
		ev.Failure = failure(a.Name(), err)
	}
	return ev
}

// askDeciders lets the deciders of an atom vote. Of those that say no, the one that leaves out most counts. A decider
// whose link comes from an atom that was left out has no vote.
func (d *driver) askDeciders(a int32) *scheduler.Event {
	ev := &scheduler.Event{Kind: scheduler.Voted, Depth: flow.DepthAtom}
	results := flow.Results{}
	for _, dec := range d.plan.Atoms[a].Deciders {
		if dec.Source >= 0 {
			if r := &d.sched.Unit(dec.Source).Rec; r.State == states.TaskSuccess {
				v, _ := d.sched.ValueOf(dec.Source)
				results[d.plan.Atoms[dec.Source].Name()] = v
			}
		}
	}
	for _, dec := range d.plan.Atoms[a].Deciders {
		if dec.Source >= 0 && d.sched.Unit(dec.Source).Rec.State == states.TaskIgnore {
			continue
		}
		yes, err := dec.Decider.Decide(nil, results)
		if err != nil {
			d.t.Fatal(err)
		}
		if !yes {
			ev.Nay, ev.Depth = true, min(ev.Depth, dec.Depth)
		}
	}
	return ev
}

func failure(name string, err error) *atom.Failure {
	if err == nil {
		return nil
	}
	return atom.NewFailure(name, 1, err)
}
