package taskflowtest

import (
	"bytes"
	"maps"
	"reflect"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/conformance"
)

// Build returns the flow that a case describes, and its inputs as Compile wants
// them. The atoms note their calls in world.
func Build(c *conformance.TaskFlowCase, world *World) (root flow.Node, inputs map[string]reflect.Type) {
	inputs = make(map[string]reflect.Type, len(c.Store))
	for symbol := range c.Store {
		inputs[symbol] = nil
	}
	policy := flow.UndoRun
	switch {
	case c.Options.NeverResolve:
		policy = flow.LeaveFailed
	case !c.Options.DeferReverts:
		policy = flow.UndoFlow
	}
	root = WithFailurePolicy(node(&c.Flow, world), policy)
	if plan, err := flow.CompileOpen(root, inputs); err == nil { // TaskFlow allows values that nothing requires
		maps.DeleteFunc(inputs, func(symbol string, _ reflect.Type) bool { return !plan.Knows(symbol) })
	}
	return root, inputs
}

// WithFailurePolicy sets the policy of a flow, or of an atom alone.
func WithFailurePolicy(root flow.Node, p flow.FailurePolicy) flow.Node {
	switch f := root.(type) {
	case *flow.LinearFlow:
		return f.WithFailurePolicy(p)
	case *flow.UnorderedFlow:
		return f.WithFailurePolicy(p)
	case *flow.GraphFlow:
		return f.WithFailurePolicy(p)
	default:
		return flow.Linear(root.Name(), root).WithFailurePolicy(p)
	}
}

// Inputs returns the values that a case's store holds from the start.
func Inputs(c *conformance.TaskFlowCase) map[string]atom.Value {
	values := make(map[string]atom.Value, len(c.Store))
	for symbol, value := range c.Store {
		values[symbol] = atom.FromJSON(value)
	}
	return values
}

func node(n *conformance.TaskFlowNode, world *World) flow.Node {
	if n.Kind == "task" {
		return task(n, world)
	}
	children := make([]flow.Node, len(n.Children))
	named := map[string]flow.Node{}
	for i := range n.Children {
		children[i] = node(&n.Children[i], world)
		named[n.Children[i].Name] = children[i]
	}
	switch n.Kind {
	case "linear":
		f := flow.Linear(n.Name, children...)
		if n.Retry != nil {
			f.WithRetry(retry(n.Retry, world))
		}
		return f
	case "unordered":
		f := flow.Unordered(n.Name, children...)
		if n.Retry != nil {
			f.WithRetry(retry(n.Retry, world))
		}
		return f
	default:
		f := flow.Graph(n.Name, children...)
		if n.Retry != nil {
			f.WithRetry(retry(n.Retry, world))
		}
		for i := range n.Links {
			f.Link(named[n.Links[i].From], named[n.Links[i].To], linkOptions(&n.Links[i])...)
		}
		if n.Target != "" {
			f.Target(named[n.Target])
		}
		return f
	}
}

func linkOptions(l *conformance.TaskFlowLink) []flow.LinkOption {
	if l.Decider == nil {
		return nil
	}
	depths := map[string]flow.Depth{"FLOW": flow.DepthFlow, "NEIGHBORS": flow.DepthNeighbors, "ATOM": flow.DepthAtom}
	decide := flow.Decide(func(results flow.Results) bool {
		if equals := l.Decider.Equals; equals != nil {
			result, has := results[equals.Atom]
			return has && bytes.Equal(result.JSON(), equals.Value)
		}
		return *l.Decider.Const
	})
	return []flow.LinkOption{decide, flow.LeaveOut(depths[l.Depth])}
}
