package draw

import (
	"github.com/ebbflow/ebb/flow"
)

// maxUnfolded is how many nodes of the flows that nodes run are drawn in all. Flows that run each other may have very
// many.
const maxUnfolded = 500

// unfold draws behind the node of a flow.Run or a flow.Each what it runs, in a group, and where that ends.
func (s *sketch) unfold(n int32, run *flow.PlanRun) {
	if run == nil {
		return
	}
	node := s.ids[n]
	g := Group{ID: "run " + node, Label: groupLabel(run), In: s.in[n]}
	body, drawn := s.body(node, run)
	if !drawn {
		s.view.Nodes[len(s.view.Nodes)-1].Label += "\n" + g.Label
		return
	}
	s.view.Groups = append(s.view.Groups, g)
	for _, inner := range body.Groups {
		if inner.In == "" {
			inner.In = g.ID
		}
		s.view.Groups = append(s.view.Groups, inner)
	}
	for _, inner := range body.Nodes {
		if inner.In == "" {
			inner.In = g.ID
		}
		s.view.Nodes = append(s.view.Nodes, inner)
	}
	s.view.Edges = append(s.view.Edges, body.Edges...)
	s.connect(n, &body, run.Detached)
}

// body returns the diagram of what a node runs. It returns false if that is unknown or too large.
func (s *sketch) body(node string, run *flow.PlanRun) (View, bool) {
	plan, prefix := run.Plan, node+"/"
	if run.Items != "" {
		plan, prefix = run.Body, node+"/*/"
	}
	switch {
	case plan == nil && run.Task != nil:
		return View{Nodes: []Node{{
			ID: prefix + run.Task.Name(), Label: run.Task.Name(), Kind: kind(&flow.PlanAtom{Atom: run.Task}),
		}}}, true
	case plan == nil || len(plan.Atoms) == 1 && plan.Atoms[0].Language != nil || len(plan.Nodes) > *s.unfolds:
		return View{}, false
	}
	*s.unfolds -= len(plan.Nodes)
	return ofPlan(plan, prefix, s.unfolds), true
}

func groupLabel(run *flow.PlanRun) string {
	switch {
	case run.Items != "" && run.Body != nil:
		return run.Body.Flow + ", for each item of " + run.Items
	case run.Items != "":
		return "for each item of " + run.Items
	case run.Detached:
		return "starts flow " + run.Plan.Flow
	default:
		return "runs flow " + run.Plan.Flow
	}
}

// connect draws the edges from a node to the first nodes of its body, and from the last ones to where they meet.
// Nothing waits for a body that is detached.
func (s *sketch) connect(n int32, body *View, detached bool) {
	entered, left := map[string]bool{}, map[string]bool{}
	for _, e := range body.Edges {
		left[e.From], entered[e.To] = true, true
	}
	node, join := s.ids[n], "join "+s.ids[n]
	for i := range body.Nodes {
		if id := body.Nodes[i].ID; !entered[id] {
			s.view.Edges = append(s.view.Edges, Edge{From: node, To: id, Maybe: detached})
		}
	}
	if detached {
		return
	}
	s.view.Nodes = append(s.view.Nodes, Node{ID: join, Kind: Junction, In: s.in[n]})
	s.outs[n] = join
	for i := range body.Nodes {
		if id := body.Nodes[i].ID; !left[id] {
			s.view.Edges = append(s.view.Edges, Edge{From: id, To: join})
		}
	}
}
