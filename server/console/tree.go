package console

import (
	"context"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/inspect"
)

// deepest is how many levels of a tree are indented.
const deepest = 8

// tree shows the steps of the run as a list. If there are many, or the address names a level, it shows one level.
func (p *runPage) tree(ctx context.Context) (node, error) {
	if p.lines > mostTold || p.visit.query.Has("below") {
		return p.levels(ctx)
	}
	t, err := p.recorded(ctx)
	if err != nil {
		return nil, err
	}
	rows, more := treeRows(nil, &t.Top, 0)
	return fragment{
		el("ul", class("tree"), each(rows, p.treeRow)),
		when(more, soft(el("a", href(p.levelLink("tree", "", 0)), say("All steps")))),
	}, nil
}

func (p *runPage) treeRow(r *treeRow) node {
	classes := []string{"d" + strconv.Itoa(min(r.Depth, deepest))}
	if r.Note != "" {
		return el("li", class(classes...), el("span", class("soft"), words("… "), words(r.Note), words(" "),
			el("a", href(p.levelLink("tree", r.Path, 0)), sayAttr("aria-label", "Steps of {0}", words(r.Name)), say("all"))))
	}
	if r.Path == p.chosen {
		classes = append(classes, "chosen")
	}
	to := p.link("tree", "atom", r.Path)
	return el("li", class(classes...), el("a", href(to), words(r.Name)), words(" "), chip(r.Status), words(" "),
		took(r.Took), when(r.Attempt > 1, el("span", class("soft"), words(" "), say("attempt {0}", number(r.Attempt)))),
		words(" "), el("span", class("cause"), words(r.Cause)))
}

// treeRows appends the rows of all steps below one. It reports whether there are more.
func treeRows(rows []treeRow, s *inspect.Step, depth int) (_ []treeRow, more bool) {
	shown, rest := s.Shown()
	for _, step := range shown {
		if len(rows) >= mostSteps {
			return rows, true
		}
		rows = append(rows, rowOf(step, depth))
		if rows, more = treeRows(rows, step, depth+1); more {
			return rows, true
		}
	}
	if rest != "" {
		rows = append(rows, treeRow{Path: s.Path, Name: s.Name, Depth: depth, Note: rest})
	}
	return rows, false
}

func rowOf(s *inspect.Step, depth int) treeRow {
	path, _, _ := strings.Cut(s.Path, "\x00") // what follows tells the visits of a state without atoms apart
	r := treeRow{Path: path, Name: s.Name, Status: string(s.Status()), Depth: depth, Attempt: s.Attempt}
	if !s.Ended.IsZero() {
		r.Took = s.Took(s.Ended)
	}
	if cause := s.Cause(); cause != nil {
		r.Cause = inspect.Cause(cause)
	}
	return r
}
