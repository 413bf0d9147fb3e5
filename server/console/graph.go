package console

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// graph draws the machine, or the flow of a program, with what became of it, and the way back. Where there is no
// diagram of the flow, what the run has done is drawn, and before that the tree stands for it.
func (p *runPage) graph(ctx context.Context) (node, error) {
	if p.visit.query.Has("below") || p.run.Entries > mostEntries { // a part does not need the history
		return p.levelGraph(ctx)
	}
	picture, grown, err := p.picture(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		tree, err := p.tree(ctx)
		return fragment{soft(say("No diagram of this flow is stored here, so the tree stands for it.")), tree}, err
	}
	if err != nil {
		return nil, err
	}
	byPath, o := map[string]string{}, draw.SVGOptions{Bare: true, Link: p.nodeLink(&picture)}
	pathOf := pathsIn(&picture)
	for i := range picture.Nodes {
		n := &picture.Nodes[i]
		if path := pathOf(n); n.Many && byPath[n.Label] == "" {
			byPath[n.Label] = n.ID
		} else if !n.Many {
			byPath[path] = n.ID
		}
	}
	o.Selected = byPath[cmp.Or(p.chosen, "\x00")] // no path
	isAbove := func(path string) bool {
		for below := range byPath {
			if strings.HasPrefix(below, path+"/") {
				return true
			}
		}
		return false
	}
	for path, err := range inspect.Undone(ctx, p.store, &p.run, isAbove) {
		if err != nil {
			return nil, err
		}
		if id := byPath[path]; id != "" {
			o.Undone = append(o.Undone, id)
		}
		if len(o.Undone) == mostUndone {
			break
		}
	}
	return fragment{
		when(grown, soft(
			say("No diagram of this flow is stored here. A line leads from each step to those that began next."))),
		p.visit.pictured(picture, o),
		soft(say("A dashed line leads from each state that was undone to the next. {0} says the same as text.",
			el("a", href(p.link("tree")), say("The tree")))),
	}, nil
}

// nodeLink returns what gives the address that a node of a picture leads to: its atom, or the part of the graph that
// has its atoms if they are many. So each atom of a run can be reached.
func (p *runPage) nodeLink(v *draw.View) func(n *draw.Node) string {
	pathOf := pathsIn(v)
	return func(n *draw.Node) string {
		path := pathOf(n)
		switch {
		case n.Many:
			return string(p.partLink("graph", &inspect.Level{Below: path}, "atom", cmp.Or(path, p.chosen)))
		case path == "" || n.Kind == draw.Start || n.Kind == draw.End || n.State == "":
			return ""
		default:
			return string(p.link("graph", "atom", path))
		}
	}
}

// levelGraph draws a part of one level of the tree, in the order of time.
func (p *runPage) levelGraph(ctx context.Context) (node, error) {
	l, err := p.level(ctx)
	if err != nil {
		return nil, err
	}
	v := inspect.LevelView(l, cmp.Or(l.Below, p.run.Flow))
	if isLargePicture(&v) { // very many steps side by side: the lines between them say little
		v.Edges = nil
	}
	lead := p.nodeLink(&v)
	o := draw.SVGOptions{Bare: true, Selected: p.chosen, Link: func(n *draw.Node) string {
		if n.Many {
			return lead(n)
		}
		return string(p.partLink("graph", l, "atom", n.Path))
	}}
	return fragment{
		p.trail("graph", l.Below), p.visit.pictured(v, o), p.parts("graph", l),
		soft(say("A line leads from each step to those that began next. ▸ has steps below it.")),
	}, nil
}

// pathsIn returns what says which atom a node of a picture shows. If nodes have paths, the others show none.
func pathsIn(v *draw.View) func(n *draw.Node) string {
	if slices.ContainsFunc(v.Nodes, func(n draw.Node) bool { return n.Path != "" }) {
		return func(n *draw.Node) string { return n.Path }
	}
	return func(n *draw.Node) string { return n.Label }
}

// drawn returns a picture of package draw, whose texts are data.
func drawn(v draw.View, o draw.SVGOptions) node {
	return el("span", drawing(draw.SVG(v, o)))
}

// framed returns a picture that can be scrolled, also with the keyboard.
func framed(picture node, label string) node {
	return el("div", class("wide picture"), attr("tabindex", "0"), attr("role", "region"), sayAttr("aria-label", label),
		picture)
}

// picture returns the diagram of the run. If none of its flow is known, it is grown: drawn by what the run has done. If
// there is nothing to draw yet, the error wraps ErrNotFound.
func (p *runPage) picture(ctx context.Context) (v draw.View, grown bool, err error) {
	var picture func() (draw.View, error)
	if p.machine != nil {
		picture = func() (draw.View, error) {
			return p.machine.Became(p.machine.Picture(p.run.Flow), storage.EachEntry(ctx, p.store, p.run.ID, 0))
		}
	}
	return p.console.levels.RunView(ctx, p.store, &p.run, picture)
}
