package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// A randomFlow describes a flow, or one task of it. Its tasks are pure: their results and failures follow from their
// inputs. Therefore, no crash may change the end of a run. It can be built any number of times, as each process builds
// its own.
type randomFlow struct {
	Kind     string // task, linear, unordered or graph
	Name     string
	Children []*randomFlow
	Retry    *randomRetry
	Links    []randomLink

	Needs    []string // symbols; every task provides its own name
	Wants    []string // optional symbols
	Fails    failing
	Attempts int // of the task by itself
	Wait     time.Duration
	Undo     undoing
	Priority int
}

// A randomRetry provides the number of the try under its own name.
type randomRetry struct {
	Name     string
	Kind     string // times or for each
	Attempts int
	ThenAll  bool
	Wait     time.Duration
}

type randomLink struct {
	From, To int // positions among the children
	Decides  bool
	Yes      bool
	Depth    flow.Depth
}

// failing says when a task fails: never, always, at its first attempt, or while a retry around it is at an earlier try
// than Until.
type failing struct {
	Always bool
	First  bool
	Try    string // name of the retry; "" is none
	Until  int
}

type undoing int

const (
	undoable undoing = iota
	notUndoable
	undoableAtLast   // the first attempt of its revert fails
	undoFails        // and nothing more is undone
	undoIsPassedOver // it fails, and the rest is undone nevertheless
)

// waits are the possible pauses before the next try or attempt.
var waits = []time.Duration{0, 0, time.Second}

// A flowMaker draws random flows. It numbers names in the order in which it draws them.
type flowMaker struct {
	t      *rapid.T
	tasks  int
	flows  int
	budget int  // number of tasks
	stuck  bool // reverts may fail
	byTry  bool // tasks may fail at some tries only
}

// within holds the references that a flow or task may use at its place.
type within struct {
	sure    []string       // symbols of tasks that certainly end before
	symbols []string       // symbols that can be required, which makes their tasks end before; includes the sure ones
	retries []*randomRetry // the retries around it
}

// anyFlow draws a flow of up to a dozen tasks. In one of six, reverts may fail.
func anyFlow(t *rapid.T) *randomFlow {
	m := &flowMaker{
		t: t, budget: 12, stuck: rapid.IntRange(0, 5).Draw(t, "undo may fail") == 0, byTry: rapid.Bool().Draw(t, "failures pass"),
	}
	return m.flow(3, within{})
}

// flow draws a flow.
func (m *flowMaker) flow(depth int, in within) *randomFlow {
	m.flows++
	f := &randomFlow{
		Kind: rapid.SampledFrom([]string{"linear", "unordered", "graph"}).Draw(m.t, "kind"),
		Name: fmt.Sprintf("f%d", m.flows),
	}
	if rapid.IntRange(0, 2).Draw(m.t, "has retry") > 0 {
		f.Retry = m.retry(f.Name)
		in.retries = append(slices.Clip(in.retries), f.Retry)
	}
	for range rapid.IntRange(1, 4).Draw(m.t, "children") {
		child := m.child(depth, in)
		if child == nil {
			break
		}
		f.Children = append(f.Children, child)
		switch f.Kind {
		case "linear":
			in.sure = append(slices.Clip(in.sure), child.provides()...)
			in.symbols = append(slices.Clip(in.symbols), child.provides()...)
		case "graph":
			in.symbols = append(slices.Clip(in.symbols), child.provides()...)
		}
	}
	if f.Kind == "graph" {
		m.links(f)
	}
	return f
}

// child draws a task or a smaller flow, or nothing if there are enough tasks.
func (m *flowMaker) child(depth int, in within) *randomFlow {
	if depth > 0 && rapid.IntRange(0, 2).Draw(m.t, "deeper") == 0 {
		return m.flow(depth-1, in)
	}
	if m.budget == 0 {
		return nil
	}
	return m.task(in)
}

func (m *flowMaker) retry(flow string) *randomRetry {
	return &randomRetry{
		Name:     flow + "_try",
		Kind:     rapid.SampledFrom([]string{"times", "times", "for each"}).Draw(m.t, "retry"),
		Attempts: rapid.IntRange(1, 3).Draw(m.t, "attempts"),
		ThenAll:  !m.byTry && rapid.Bool().Draw(m.t, "then all"), // what is undone must not depend on which failure comes first
		Wait:     rapid.SampledFrom(waits).Draw(m.t, "wait"),
	}
}

func (m *flowMaker) task(in within) *randomFlow {
	m.tasks++
	m.budget--
	f := &randomFlow{Kind: "task", Name: fmt.Sprintf("t%d", m.tasks), Priority: rapid.IntRange(0, 2).Draw(m.t, "priority")}
	for _, symbol := range in.symbols {
		switch use := rapid.IntRange(0, 5).Draw(m.t, "uses "+symbol); {
		case use == 0:
			f.Needs = append(f.Needs, symbol)
		case use == 1 && slices.Contains(in.sure, symbol):
			f.Wants = append(f.Wants, symbol)
		}
	}
	for _, r := range in.retries {
		f.Needs = append(f.Needs, r.Name)
	}
	switch fails := rapid.IntRange(0, 9).Draw(m.t, "fails"); {
	case fails == 0:
		f.Fails.Always = true
	case fails <= 3 && m.byTry && len(in.retries) > 0:
		f.Fails.Try = rapid.SampledFrom(in.retries).Draw(m.t, "fails by").Name
		f.Fails.Until = rapid.IntRange(2, 3).Draw(m.t, "until")
	}
	if rapid.IntRange(0, 3).Draw(m.t, "has attempts") == 0 {
		f.Attempts = rapid.IntRange(2, 3).Draw(m.t, "attempts")
		f.Wait = rapid.SampledFrom(waits).Draw(m.t, "wait")
		f.Fails.First = rapid.Bool().Draw(m.t, "fails first")
	}
	switch undo := rapid.IntRange(0, 9).Draw(m.t, "undo"); {
	case undo == 0:
		f.Undo = notUndoable
	case undo == 1:
		f.Undo = undoableAtLast
	case undo == 2 && m.stuck:
		f.Undo = undoFails
	case undo == 3 && m.stuck:
		f.Undo = undoIsPassedOver
	}
	return f
}

// links joins children to later ones, some with deciders.
func (m *flowMaker) links(f *randomFlow) {
	for to := range f.Children {
		for from := range to {
			if rapid.IntRange(0, 2).Draw(m.t, "linked") != 0 {
				continue
			}
			f.Links = append(f.Links, randomLink{
				From: from, To: to,
				Decides: rapid.IntRange(0, 2).Draw(m.t, "decides") == 0,
				Yes:     rapid.Bool().Draw(m.t, "yes"),
				Depth:   rapid.SampledFrom([]flow.Depth{flow.DepthAll, flow.DepthFlow, flow.DepthNeighbors, flow.DepthAtom}).Draw(m.t, "depth"),
			})
		}
	}
}

// provides returns the symbols of the results of a flow's tasks.
func (f *randomFlow) provides() []string {
	if f.Kind == "task" {
		return []string{f.Name}
	}
	var symbols []string
	for _, c := range f.Children {
		symbols = append(symbols, c.provides()...)
	}
	return symbols
}

// each calls do for every task.
func (f *randomFlow) each(do func(task *randomFlow)) {
	if f.Kind == "task" {
		do(f)
	}
	for _, c := range f.Children {
		c.each(do)
	}
}

// build builds the flow. Its tasks change the effects.
func (f *randomFlow) build(world *effects) flow.Node {
	if f.Kind == "task" {
		return f.atom(world)
	}
	children := make([]flow.Node, len(f.Children))
	for i, c := range f.Children {
		children[i] = c.build(world)
	}
	switch f.Kind {
	case "linear":
		built := flow.Linear(f.Name, children...)
		if f.Retry != nil {
			built.WithRetry(f.Retry.atom())
		}
		return built
	case "unordered":
		built := flow.Unordered(f.Name, children...)
		if f.Retry != nil {
			built.WithRetry(f.Retry.atom())
		}
		return built
	default:
		built := flow.Graph(f.Name, children...)
		if f.Retry != nil {
			built.WithRetry(f.Retry.atom())
		}
		for _, link := range f.Links {
			var opts []flow.LinkOption
			if link.Decides {
				opts = append(opts, flow.Decide(func(flow.Results) bool { return link.Yes }), flow.LeaveOut(link.Depth))
			}
			built.Link(children[link.From], children[link.To], opts...)
		}
		return built
	}
}

func (r *randomRetry) atom() *atom.Atom {
	var c *atom.Atom
	switch backoff := atom.Constant(r.Wait); {
	case r.Kind == "times" && r.ThenAll:
		c = atom.TimesThenAll(r.Attempts, backoff)
	case r.Kind == "times":
		c = atom.Times(r.Attempts, backoff)
	case r.ThenAll:
		c = atom.ForEachThenAll([]int{1, 2, 3}[:r.Attempts]...)
	default:
		c = atom.ForEach([]int{1, 2, 3}[:r.Attempts]...)
	}
	return atom.Retry(r.Name, c.Controller(), atom.Provides(r.Name))
}

// atom returns the task. It has its effect also if it then fails; that effect is undone, too. Its result contains all
// its inputs.
func (f *randomFlow) atom(world *effects) *atom.Atom {
	do := func(ctx context.Context, in atom.Values) (any, error) {
		world.begun(ctx)
		if f.Undo != notUndoable {
			world.book(ctx)
		}
		world.takeTime(ctx)
		if f.Fails.First && atom.Attempt(ctx) == 1 {
			return nil, atom.Errorf("Refused", "%s does not at once", f.Name)
		}
		if f.Fails.Always {
			return nil, atom.Errorf("Refused", "%s never does", f.Name)
		}
		if f.Fails.Try != "" {
			var try int
			if v, _ := in.Get(f.Fails.Try); v.Decode(&try) != nil || try < f.Fails.Until {
				return nil, atom.Errorf("Refused", "%s does not at try %d of %s", f.Name, try, f.Fails.Try)
			}
		}
		var given strings.Builder
		for name, v := range in.All {
			fmt.Fprintf(&given, " %s=%s", name, v)
		}
		return fmt.Sprintf("%s(%s)", f.Name, given.String()), nil
	}
	undo := func(ctx context.Context, _ atom.Values, _ atom.Outcome[atom.Value]) (any, error) {
		world.takeTime(ctx)
		if f.Undo == undoFails || f.Undo == undoIsPassedOver || f.Undo == undoableAtLast && atom.Attempt(ctx) == 1 {
			return nil, atom.Errorf("Stuck", "%s stays", f.Name)
		}
		world.unbook(ctx)
		return nil, nil //nolint:nilnil // a revert has no result
	}
	if f.Undo == notUndoable {
		undo = nil
	}
	opts := []atom.Option{atom.Provides(f.Name), atom.Requires(f.Needs...), atom.Optional(f.Wants...), atom.Priority(f.Priority)}
	if f.Attempts > 0 {
		opts = append(opts, atom.Attempts(f.Attempts, atom.Constant(f.Wait)))
	}
	if f.Undo == undoableAtLast {
		opts = append(opts, atom.RevertAttempts(3, atom.Constant(f.Wait)))
	}
	if f.Undo == undoIsPassedOver {
		opts = append(opts, atom.IfRevertFails(atom.GoOnUndoing))
	}
	return atom.Untyped(f.Name, do, undo, opts...)
}

// String describes the flow in a few lines, so that a reader can find the reason of a failure.
func (f *randomFlow) String() string { return f.text("") }

func (f *randomFlow) text(indent string) string {
	var b strings.Builder
	if f.Kind == "task" {
		fmt.Fprintf(&b, "%s%s needs %v wants %v fails %+v attempts %d wait %v undo %d priority %d\n",
			indent, f.Name, f.Needs, f.Wants, f.Fails, f.Attempts, f.Wait, f.Undo, f.Priority)
		return b.String()
	}
	fmt.Fprintf(&b, "%s%s %s", indent, f.Kind, f.Name)
	if f.Retry != nil {
		fmt.Fprintf(&b, " retry %+v", *f.Retry)
	}
	b.WriteByte('\n')
	for _, c := range f.Children {
		b.WriteString(c.text(indent + "  "))
	}
	for _, l := range f.Links {
		fmt.Fprintf(&b, "%s  link %s -> %s %+v\n", indent, f.Children[l.From].Name, f.Children[l.To].Name, l)
	}
	return b.String()
}
