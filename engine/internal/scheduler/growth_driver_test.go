package scheduler_test

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// gardener drives a run of the toy language: it commits, crashes, and keeps the
// world that the tasks work on.
type gardener struct {
	tb      rapid.TB
	each    bool // commit each change by itself
	crashAt int  // after which commit the process dies; 0 is never
	gap     int  // how many commits later it dies again, one more each time; 0 is not again
	stopAt  int  // the commit after which the run is suspended; 0 is never
	limitAt int  // the answer of the language in place of which the run reaches a limit; 0 is never
	parts   int  // how much is cancelled at once
	own     bool // a call that is cancelled has always ended before
	pick    func(n int) int
	defers  func() bool         // whether a question is answered later; nil is never
	asked   func(c *grow.Cause) // sees every question to the language
	lang    grow.Language
	input   atom.Value
	plan    *flow.Plan
	sched   *scheduler.Scheduler
	now     time.Time

	// What survives a crash.
	flow           states.Flow
	memory         atom.Value
	atom           scheduler.Record
	nodes          map[string]*scheduler.Loaded
	gone           map[string]bool // nodes that are only needed to be undone
	undo           []string
	unwound        bool
	pending        scheduler.PendingOutcome
	pendingFailure *atom.Failure
	events         map[string]int
	world          map[string]int // effects that have not been undone
	pushed         []string       // all that was ever put on the stack
	undone         []string
	commits        int

	// What does not.
	batch    []func()
	calls    []scheduler.Command
	ended    []scheduler.Event
	waits    map[*scheduler.Unit]time.Time
	deadline time.Time
	over     *scheduler.Command
	crashed  bool
	asks     int
	longest  int  // how many commands a Step led to at most
	limited  bool // it has reached its limit
	later    bool // a question must be answered later
	dead     bool
}

func newGardener(tb rapid.TB, program toyFlow) *gardener {
	tb.Helper()
	plan, err := flow.Compile(flow.Growing("toy", toy{}), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return &gardener{
		tb: tb, lang: toy{}, each: true, parts: 1, pick: func(int) int { return 0 }, input: atom.MustEncode(program), plan: plan,
		now:   time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
		nodes: map[string]*scheduler.Loaded{}, gone: map[string]bool{}, events: map[string]int{}, world: map[string]int{},
	}
}

// play runs to the end, through a crash or a suspension if there is one.
func (g *gardener) play() {
	for {
		if g.process(); !g.dead {
			return
		}
		if g.flow.Ended() { // nothing is left to be lost
			g.crashed = false
			return
		}
	}
}

// process is the life of one process.
func (g *gardener) process() {
	g.sched = scheduler.New(g.plan, nil, g.input)
	g.sched.CancelInPartsOf(g.parts)
	g.batch, g.calls, g.ended, g.waits = nil, nil, nil, map[*scheduler.Unit]time.Time{}
	g.deadline, g.over, g.dead, g.later = time.Time{}, nil, false, false
	if g.commits > 0 {
		records := []scheduler.Loaded{{Path: flow.GrowingPath, Rec: g.atom}}
		for path, l := range g.nodes {
			if !g.gone[path] {
				records = append(records, *l)
			}
		}
		g.sched.Load(&scheduler.Saved{
			Flow: g.flow, Memory: g.memory, Records: records, Undos: int64(len(g.undo)), Unwound: g.unwound, PendingOutcome: g.pending, PendingFailure: g.pendingFailure,
		})
	}
	g.feed(scheduler.Event{Kind: scheduler.Begin, Fresh: true})
	for steps := 0; !g.dead; steps++ {
		if steps > 100_000 {
			g.tb.Fatal("it does not end")
		}
		if g.over != nil {
			g.dead = g.over.FlowTo == states.FlowSuspended
			return
		}
		g.next()
	}
}

// next brings the next thing that happens.
func (g *gardener) next() {
	if len(g.ended) > 0 {
		i := g.pick(len(g.ended))
		ev := g.ended[i]
		g.ended = slices.Delete(g.ended, i, i+1)
		g.feed(ev)
		return
	}
	if g.later && (len(g.waits) > 0 || !g.deadline.IsZero()) && g.pick(2) == 0 { // meanwhile time passes
		if g.flush(); !g.dead {
			g.wait()
		}
		return
	}
	g.later = false
	before := len(g.calls)
	if g.feed(scheduler.Event{Kind: scheduler.Idle}) > 0 || g.dead || before != len(g.calls) {
		return
	}
	if g.flush(); g.dead {
		return
	}
	if len(g.calls) > 0 {
		g.launch()
		return
	}
	g.wait()
}

// wait lets time pass until the next wait ends.
func (g *gardener) wait() {
	var first *scheduler.Unit
	for n, due := range g.waits {
		if first == nil || due.Before(g.waits[first]) || due.Equal(g.waits[first]) && n.Path < first.Path {
			first = n
		}
	}
	switch {
	case first == nil && g.deadline.IsZero():
		g.tb.Fatalf("nothing to wait for; flow %v, atom %v", g.sched.Flow(), g.atom.State)
	case !g.deadline.IsZero() && (first == nil || g.deadline.Before(g.waits[first])):
		g.pass(g.deadline)
		g.deadline = time.Time{}
		g.fire(nil)
	default:
		g.pass(g.waits[first])
		delete(g.waits, first)
		g.fire(first)
	}
}

// fire tells that a wait is over, of a unit or with nil the deadline. Telling it
// again leads to nothing.
func (g *gardener) fire(u *scheduler.Unit) {
	ev := scheduler.Event{Kind: scheduler.Fired, Unit: u}
	g.feed(ev)
	if _, again := g.waits[u]; again || g.dead || g.later { // else a question is asked again
		return
	}
	ev.Now = g.now
	if cmds := g.sched.Step(ev); len(cmds) > 0 {
		g.tb.Errorf("a timer that fired twice led to %d commands, the first of them %+v", len(cmds), cmds[0])
	}
}

func (g *gardener) pass(to time.Time) {
	if to.After(g.now) {
		g.now = to
	}
}

// feed reports an event, and carries out commands until there are no more. It returns their number.
func (g *gardener) feed(ev scheduler.Event) int {
	n := 0
	for asked := true; asked && !g.dead; {
		ev.Now = g.now
		cmds := slices.Clone(g.sched.Step(ev))
		g.checkAlive()
		n += len(cmds)
		g.longest = max(g.longest, len(cmds))
		whole := ev.Kind == scheduler.Grown
		asked = false
		for i := range cmds {
			answer := g.do(&cmds[i], whole)
			if g.dead {
				return n
			}
			if answer != nil {
				ev, asked = *answer, true
			}
		}
		if whole && g.each {
			g.flush()
		}
		if g.stopAt > 0 && g.commits >= g.stopAt && !asked && !g.dead {
			g.stopAt = 0
			g.feed(scheduler.Event{Kind: scheduler.Suspend})
		}
	}
	return n
}

// more lets the scheduler continue, now or later, perhaps after a commit.
func (g *gardener) more() *scheduler.Event {
	if g.pick(2) == 0 {
		if g.flush(); g.dead {
			return nil
		}
	}
	if g.defers != nil && g.defers() {
		g.later = true
		return &scheduler.Event{Kind: scheduler.Later}
	}
	return &scheduler.Event{Kind: scheduler.Continue}
}

func (g *gardener) do(c *scheduler.Command, whole bool) *scheduler.Event {
	switch c.Op {
	case scheduler.Write, scheduler.Notify:
		if n := c.Unit.Node; n != nil && c.Op == scheduler.Notify && c.To == states.TaskRunning && n.Spec.Kind != grow.Timer && n.Spec.Due.After(g.now) {
			g.tb.Errorf("%s began %v too early", n.Path, n.Spec.Due.Sub(g.now))
		}
		g.keep(*c)
		if n := c.Unit.Node; n != nil && c.Op == scheduler.Notify && c.To == states.TaskReverted {
			g.batch = append(g.batch, func() { g.undone, g.unwound = append(g.undone, n.Path), true })
		}
		if c.Op == scheduler.Notify && g.each && !whole {
			g.flush()
		}
	case scheduler.FlowState:
		to := c.FlowTo
		g.batch = append(g.batch, func() { g.flow = to })
		if g.each && !whole {
			g.flush()
		}
	case scheduler.Execute, scheduler.Revert:
		g.calls = append(g.calls, *c)
	case scheduler.Wait:
		g.waits[c.Unit] = c.Due
	case scheduler.Unwait:
		delete(g.waits, c.Unit)
	case scheduler.Cancel:
		g.cancel(c.Unit)
	case scheduler.PendingFailure:
		pending, why := c.PendingOutcome, c.Failures
		g.batch = append(g.batch, func() { g.pending, g.pendingFailure = pending, append(why, nil)[0] })
	case scheduler.DropUndo:
		g.batch = append(g.batch, func() { g.undo, g.pushed = nil, nil })
	case scheduler.Deadline:
		g.deadline = c.Due
	case scheduler.AskLanguage:
		return g.ask(c)
	case scheduler.AskUndo:
		if g.flush(); g.dead {
			return nil
		}
		ev := g.entry(c.Part)
		return ev
	case scheduler.Emit:
		for _, ev := range c.Events {
			g.batch = append(g.batch, func() { g.events[ev.Name]++ })
		}
	case scheduler.Remember:
		memory := c.Memory
		g.batch = append(g.batch, func() { g.memory = memory })
	case scheduler.PushUndo:
		path := c.Unit.Path
		g.batch = append(g.batch, func() { g.undo = append(g.undo, path) })
		if !c.Unit.Node.Spec.Pivot || c.Unit.Rec.State != states.TaskSuccess {
			g.batch = append(g.batch, func() { g.pushed = append(g.pushed, path) })
		}
	case scheduler.PopUndo:
		path := c.Unit.Path
		g.batch = append(g.batch, func() {
			if g.undo[len(g.undo)-1] != path {
				g.tb.Errorf("%s was taken off the stack %v", path, g.undo)
			}
			g.undo, g.unwound = g.undo[:len(g.undo)-1], true
		})
	case scheduler.More:
		return g.more()
	case scheduler.Over:
		over := *c
		g.over = &over
		if slices.ContainsFunc(c.Failures, func(f *atom.Failure) bool { return f.Code == "Ebb.Stuck" }) {
			g.tb.Fatalf("nothing is left that could go on; atom %v", g.atom.State)
		}
		g.flush()
	default:
		g.tb.Fatalf("unexpected command %d", c.Op)
	}
	return nil
}

func (g *gardener) ask(c *scheduler.Command) *scheduler.Event {
	ask := &grow.Ask{Path: c.Scope.Path, Index: c.Scope.Index, Memory: c.Scope.Memory, Cause: *c.Cause, Now: g.now}
	if fork := c.Scope.Parent; fork != nil {
		ask.Shared = fork.Spec.Group.Shared
	}
	if k := c.Cause.Kind; k == grow.JoinFailed || k == grow.Joined && len(c.Cause.Results) > 0 {
		g.checkNote(c)
	}
	if _, is := g.lang.(toy); is && c.Cause.Kind == grow.Undone {
		g.checkUndone(ask)
	}
	if g.defers != nil && g.defers() {
		g.later = true
		return &scheduler.Event{Kind: scheduler.Later}
	}
	if g.asked != nil {
		g.asked(c.Cause)
	}
	if g.asks++; g.asks == g.limitAt && c.Cause.Kind != grow.Stopped {
		g.limited = true
		return &scheduler.Event{Kind: scheduler.Exceeded, Failure: exceeded}
	}
	growth := g.lang.Grow(ask)
	g.checkAfter(c, &growth)
	return &scheduler.Event{Kind: scheduler.Grown, Growth: &growth}
}
