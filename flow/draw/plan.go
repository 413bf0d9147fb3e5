package draw

import (
	"cmp"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// OfPlan returns the diagram of a compiled flow. The IDs of its nodes are the names of the atoms, which are their
// paths in a run; the flows in it become groups. Where many atoms lead to many others, a junction reduces the
// number of edges. What a flow.Run or a flow.Each runs is a group behind its node, unless it is very large.
func OfPlan(p *flow.Plan) View {
	unfolds := maxUnfolded
	return ofPlan(p, "", &unfolds)
}

// ofPlan draws a plan whose nodes have IDs with a prefix. Unfolds is how many nodes of plans within may be drawn.
func ofPlan(p *flow.Plan, prefix string, unfolds *int) View {
	s := &sketch{
		plan: p, prefix: prefix, unfolds: unfolds, labels: map[[2]int32]string{}, ids: make([]string, len(p.Nodes)),
		outs: map[int32]string{}, in: make([]string, len(p.Nodes)),
	}
	s.view.Title = p.Flow
	s.place()
	s.decisions()
	s.contract()
	return s.view
}

// sketch is an incomplete diagram of a plan.
type sketch struct {
	plan    *flow.Plan
	prefix  string // of the IDs
	unfolds *int   // so many nodes of plans within this one may still be drawn
	view    View

	ids    []string            // IDs of the plan's nodes; "" for nodes that are not shown
	outs   map[int32]string    // IDs of the nodes that edges from a plan's node leave, if they are others
	in     []string            // groups of the plan's nodes; entrances and exits are in the group around their flow
	labels map[[2]int32]string // labels of the edges that a decider decides
}

// place creates the groups, and the nodes of the atoms. The plan lists a flow's nodes between its entrance and its
// exit.
func (s *sketch) place() {
	open := []string{""}
	for i, n := range s.plan.Nodes {
		if n.Kind == flow.Exit && n.Flow > 0 {
			open = open[:len(open)-1]
		}
		s.in[i] = open[len(open)-1]
		switch {
		case n.Kind == flow.AtomNode:
			a := &s.plan.Atoms[n.Atom]
			s.ids[i] = s.prefix + a.Name()
			s.view.Nodes = append(s.view.Nodes, Node{
				ID: s.ids[i], Label: s.label(a), Kind: kind(a), In: s.in[i], Pivot: a.IsPivot(),
			})
			s.unfold(int32(i), a.Run)
		case n.Kind == flow.Entrance && n.Flow > 0: // the root has the title instead
			g := Group{ID: s.prefix + "flow " + strconv.Itoa(int(n.Flow)), Label: s.plan.FlowOf(int32(i)), In: s.in[i]}
			s.view.Groups = append(s.view.Groups, g)
			open = append(open, g.ID)
		}
	}
}

// label returns an atom's name and, for a retry, its policy.
func (s *sketch) label(a *flow.PlanAtom) string {
	if a.Language != nil {
		return s.plan.Flow + ": grows while it runs"
	}
	if policy, ok := a.Controller().(interface{ String() string }); ok {
		return a.Name() + ": " + policy.String()
	}
	return a.Name()
}

func kind(a *flow.PlanAtom) Kind {
	switch {
	case a.Kind() == atom.KindRetry:
		return Retry
	case a.Reverts():
		return Undoable
	default:
		return Task
	}
}

// decisions records which edges a decider decides. A decision is stored at the atoms that the edge leads to, even
// if it leads through entrances of flows.
func (s *sketch) decisions() {
	for i := range s.plan.Atoms {
		a := &s.plan.Atoms[i]
		for _, d := range a.Deciders {
			for n := a.Node; ; {
				outer := int32(-1)
				for _, pred := range s.plan.Pred(n) {
					if pred == d.From {
						s.labels[[2]int32{pred, n}] = d.Decider.Label
					} else if s.plan.Nodes[pred].Kind == flow.Entrance {
						outer = pred
					}
				}
				if outer < 0 {
					break
				}
				n = outer
			}
		}
	}
}

// arc is half an edge: the node at its other end, and its label.
type arc struct {
	node  int32
	label string
	maybe bool
}

// contract joins the edges that meet at entrances and exits. If that would add edges, it shows a junction instead.
func (s *sketch) contract() {
	p := s.plan
	into := make([][]arc, len(p.Nodes)) // for nodes that are not shown: the arcs from shown nodes
	for _, n := range topological(p) {
		var from []arc
		seen := map[int32]bool{}
		for _, pred := range p.Pred(n) {
			label, maybe := s.labels[[2]int32{pred, n}]
			arcs := into[pred]
			if s.ids[pred] != "" {
				arcs = []arc{{node: pred}}
			}
			for _, a := range arcs {
				if !seen[a.node] {
					seen[a.node] = true
					from = append(from, arc{a.node, joined(a.label, label), a.maybe || maybe})
				}
			}
		}
		if s.ids[n] == "" && (len(from) < 2 || len(p.Succ(n)) < 2) {
			into[n] = from
			continue
		}
		if s.ids[n] == "" {
			s.ids[n] = s.prefix + "junction " + strconv.Itoa(int(n))
			s.view.Nodes = append(s.view.Nodes, Node{ID: s.ids[n], Kind: Junction, In: s.in[n]})
		}
		for _, a := range from {
			from := cmp.Or(s.outs[a.node], s.ids[a.node])
			s.view.Edges = append(s.view.Edges, Edge{From: from, To: s.ids[n], Label: a.label, Maybe: a.maybe})
		}
	}
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// topological returns the plan's nodes, each after all nodes that lead to it.
func topological(p *flow.Plan) []int32 {
	missing := make([]int, len(p.Nodes))
	order := make([]int32, 0, len(p.Nodes))
	for n := range int32(len(p.Nodes)) {
		if missing[n] = len(p.Pred(n)); missing[n] == 0 {
			order = append(order, n)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, next := range p.Succ(order[i]) {
			if missing[next]--; missing[next] == 0 {
				order = append(order, next)
			}
		}
	}
	return order
}
