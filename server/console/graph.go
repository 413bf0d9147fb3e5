package console

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
)

// graph draws the machine, or the flow of a program, with what became of it, and the way back. Where there is no
// diagram, the tree stands for it.
func (p *runPage) graph(ctx context.Context) (node, error) {
	picture, err := p.picture(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		tree, err := p.tree(ctx)
		return fragment{soft(say("No diagram of this flow is stored here, so the tree stands for it.")), tree}, err
	}
	if err != nil {
		return nil, err
	}
	o := draw.SVGOptions{Bare: true, Link: func(n *draw.Node) string {
		if n.Label == "" || n.Kind == draw.Start || n.Kind == draw.End || n.State == "" {
			return ""
		}
		return string(p.link("graph", "atom", n.Label))
	}}
	byLabel := map[string]string{}
	for i := range picture.Nodes {
		byLabel[picture.Nodes[i].Label] = picture.Nodes[i].ID
	}
	o.Selected = byLabel[p.chosen]
	for path, err := range inspect.Undone(ctx, p.store, &p.run) {
		if err != nil {
			return nil, err
		}
		if id := byLabel[path]; id != "" && len(o.Undone) < mostUndone {
			o.Undone = append(o.Undone, id)
		}
	}
	return fragment{
		framed(drawn(picture, o), "graph"),
		soft(say("A dashed line leads from each state that was undone to the next. {0} says the same as text.",
			el("a", href(p.link("tree")), say("The tree")))),
	}, nil
}

// drawn returns a picture of package draw, whose texts are data.
func drawn(v draw.View, o draw.SVGOptions) node {
	return el("span", attr("lang", "en"), drawing(draw.SVG(v, o)))
}

// framed returns a picture that can be scrolled, also with the keyboard.
func framed(picture node, label text) node {
	return el("div", class("wide picture"), attr("tabindex", "0"), attr("role", "region"), sayAttr("aria-label", label),
		picture)
}

// picture returns the diagram of the run. If there is none, the error wraps ErrNotFound.
func (p *runPage) picture(ctx context.Context) (draw.View, error) {
	if p.machine == nil {
		return inspect.PlanView(ctx, p.store, &p.run)
	}
	return p.machine.Became(p.machine.Picture(p.run.Flow), storage.EachEntry(ctx, p.store, p.run.ID, 0))
}
