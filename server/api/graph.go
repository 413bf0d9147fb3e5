package api

import (
	"errors"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
)

// A Graph is a diagram with positions, in pixels from its top left corner.
type Graph struct {
	Title  string       `json:"title"`
	Width  float64      `json:"width"`
	Height float64      `json:"height"`
	Nodes  []GraphNode  `json:"nodes"`
	Groups []GraphGroup `json:"groups"` // a group follows the group that contains it
	Edges  []GraphEdge  `json:"edges"`
}

// A Box is the place of something in a graph: its center and its size.
type Box struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// A GraphNode is a step of a flow, or its start or end.
type GraphNode struct {
	Box

	ID    string `json:"id"`
	Label string `json:"label"`
	Kind  string `json:"kind"`            // such as "task"
	State string `json:"state,omitempty"` // what became of it in a run
	Count string `json:"count,omitempty"` // what became of it if it ran more than once
	In    string `json:"in,omitempty"`    // id of the group around it
}

// A GraphGroup is a frame around nodes.
type GraphGroup struct {
	Box

	ID    string `json:"id"`
	Label string `json:"label"`
	In    string `json:"in,omitempty"` // id of the group around it
}

// A GraphEdge leads from one node to another.
type GraphEdge struct {
	From   string       `json:"from"`
	To     string       `json:"to"`
	Label  string       `json:"label,omitempty"`
	Maybe  bool         `json:"maybe,omitzero"` // the run decides whether to follows from
	Taken  bool         `json:"taken,omitzero"` // a run took it
	Points []GraphPoint `json:"points"`         // from the lower side of a node to the upper side of another
}

// A GraphPoint is a position.
type GraphPoint struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// graphOf lays a view out.
func graphOf(v *draw.View) *Graph {
	p := draw.Place(*v)
	g := &Graph{v.Title, p.Width, p.Height, []GraphNode{}, []GraphGroup{}, []GraphEdge{}}
	for _, at := range p.Nodes {
		n := &v.Nodes[at.Index]
		g.Nodes = append(g.Nodes, GraphNode{Box(at.Box), n.ID, n.Label, n.Kind.String(), n.State, n.Count, n.In})
	}
	for _, at := range p.Groups {
		of := &v.Groups[at.Index]
		g.Groups = append(g.Groups, GraphGroup{Box(at.Box), of.ID, of.Label, of.In})
	}
	for _, at := range p.Edges {
		e := &v.Edges[at.Index]
		points := make([]GraphPoint, len(at.Points))
		for i, to := range at.Points {
			points[i] = GraphPoint(to)
		}
		g.Edges = append(g.Edges, GraphEdge{e.From, e.To, e.Label, e.Maybe, e.Taken, points})
	}
	return g
}

// definitionGraph serves the graph of a stored definition.
func (a *api) definitionGraph(c *call) (any, error) {
	if a.options.Languages == nil {
		return nil, problemNoLanguages()
	}
	hash := c.PathValue("definition")
	d, err := a.store.Definition(c.Context(), hash)
	if err != nil {
		return nil, there(err, "definition", hash)
	}
	v, err := a.options.Languages.Picture(&d)
	if err != nil {
		return nil, problem(501, "no_languages", "the definition cannot be read here: %v", err)
	}
	return graphOf(&v), nil
}

// runGraph serves the graph of a run, with what became of it.
func (a *api) runGraph(c *call) (any, error) {
	run, err := c.run(a)
	if err != nil {
		return nil, err
	}
	var picture func() (draw.View, error)
	if a.options.Languages != nil {
		picture = func() (draw.View, error) { return a.options.Languages.PictureOf(c.Context(), &run) }
	}
	v, _, err := a.levels.RunView(c.Context(), a.store, &run, picture)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, problem(404, "no_graph", "no graph of the flow of run %q is stored here, and it has no steps yet", run.ID)
	}
	if err != nil {
		return nil, err
	}
	return graphOf(&v), nil
}
