package scheduler_test

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// entry returns the entry of the undo stack that is asked for.
func (g *gardener) entry(part *scheduler.Part) *scheduler.Event {
	ev := &scheduler.Event{Kind: scheduler.Unwound}
	for i, path := range slices.Backward(g.undo) {
		height := int64(i) + 1
		if part != nil {
			if part.Below > 0 && height >= part.Below {
				continue
			}
			if picked, last := part.Picks(path); last {
				break
			} else if !picked {
				continue
			}
		}
		ev.Unit, ev.N = g.sched.Unwind(*g.nodes[path]), height
		break
	}
	return ev
}

// keep puts a record into the batch.
func (g *gardener) keep(c scheduler.Command) {
	if c.Unit.Planned != nil {
		g.batch = append(g.batch, func() { g.atom = c.Rec })
		return
	}
	var l scheduler.Loaded
	kept := true
	if n := c.Unit.Node; n != nil {
		spec := n.Spec
		l, kept = scheduler.Loaded{Path: n.Path, Rec: c.Rec, Spec: &spec}, n.Kept
	} else {
		sc := c.Unit.Child
		l = scheduler.Loaded{
			Path: sc.Path, Rec: c.Rec, Child: true, Parent: sc.Parent.Path, Index: sc.Index,
			Attempt: int(sc.Parent.Rec.Attempt), Memory: sc.Memory,
		}
	}
	g.batch = append(g.batch, func() { g.nodes[l.Path], g.gone[l.Path] = &l, !kept })
}

// flush commits. The process may die right after it.
func (g *gardener) flush() {
	if len(g.batch) == 0 {
		return
	}
	for _, change := range g.batch {
		change()
	}
	g.batch = nil
	if g.commits++; g.commits == g.crashAt {
		g.dead, g.crashed = true, true
		if g.gap > 0 {
			g.gap++
			g.crashAt += g.gap
		}
	}
}

// checkUndone checks that the parts that a flow wanted undone are undone.
func (g *gardener) checkUndone(ask *grow.Ask) {
	step := decode[toyFlow](ask.Memory).Steps[decode[toyNote](ask.Cause.Note).At]
	for _, path := range slices.Backward(g.pushed) {
		rest, mine := strings.CutPrefix(path, ask.Path+"/")
		if ask.Path == "" {
			rest, mine = path, true
		}
		node, _, _ := strings.Cut(rest, "/")
		if child := strings.IndexAny(node, "[@"); child >= 0 {
			node = node[:child]
		}
		switch {
		case mine && step.To != "" && node == step.To:
			return
		case mine && (step.Under == "" || node == step.Under) && step.Kind == "undo" && g.world[path] > 0:
			g.tb.Errorf("%q is told that %+v was undone, but there is %s", ask.Path, step, path)
		}
	}
}

// checkNote checks that a join receives the note of the child that decided it.
func (g *gardener) checkNote(c *scheduler.Command) {
	note, attempt := decode[string](c.Cause.EndNote), int(c.Unit.Rec.Attempt)
	if want := scheduler.ChildPath(c.Unit.Path, attempt, c.Cause.Index); c.Cause.Kind == grow.JoinFailed && note != want {
		g.tb.Errorf("%q failed by the child noted %q, want %q", c.Unit.Path, note, want)
	}
	if want := strings.TrimSuffix(scheduler.ChildPath(c.Unit.Path, attempt, 0), "0]"); !strings.HasPrefix(note, want) {
		g.tb.Errorf("%q joined by the child noted %q", c.Unit.Path, note)
	}
}

// check reports what must hold at every end.
func (g *gardener) check() {
	g.tb.Helper()
	for name, times := range g.events {
		if times > 1 {
			g.tb.Errorf("the answer to %s was kept %d times", name, times)
		}
	}
	if g.over.FlowTo != states.FlowSuccess && g.atom.State != states.TaskRevertFailure && len(g.world) > 0 {
		g.tb.Errorf("ended %v and left %v", g.over.FlowTo, g.world)
	}
	if g.over.FlowTo != g.flow {
		g.tb.Errorf("ended %v and stored %v", g.over.FlowTo, g.flow)
	}
}
