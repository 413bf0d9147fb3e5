package console

import (
	"context"
	"strconv"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/storage"
)

// undo shows what could not be undone, what stays done, what was undone, and what can still be undone.
func (p *runPage) undo(ctx context.Context) (node, error) {
	t, err := p.recorded(ctx)
	if err != nil {
		return nil, err
	}
	stack, err := p.store.Undos(ctx, p.run.ID, 0, mostUndone)
	if err != nil {
		return nil, err
	}
	pivots, err := inspect.PivotsIn(ctx, p.store, p.run.ID, stack)
	if err != nil {
		return nil, err
	}
	var undone []treeRow
	for _, s := range t.Undone {
		undone = append(undone, undoRow(s))
	}
	u := &p.why.Undo
	return fragment{
		p.paths("Could not be undone", u.Stuck.Count, u.Stuck.First, func(path string) node {
			if v := p.visit; v.operates {
				return fragment{
					el("b", words(path)), words(" "), v.button("run", "retry-revert", p.run.ID, "f.atom", path),
					v.button("run", "skip", p.run.ID, "f.atom", path),
				}
			}
			return fragment{
				el("b", words(path)), words(" "), say("{0} or {1}", code("ebb retry --revert "+p.run.ID+" "+path),
					code("ebb skip "+p.run.ID+" "+path)),
			}
		}),
		p.paths("◆ Stays done", u.StaysDone.Count, u.StaysDone.First, plain),
		p.paths("◇ May stay done", u.MayStayDone.Count, u.MayStayDone.First, plain),
		when(len(undone) == 0, calm("Nothing was undone.")),
		when(len(undone) > 0, el("h2", say("Undone, last first")),
			el("ol", class("undone"), each(undone, func(r *treeRow) node {
				return el("li", words(r.Name+" "), chip(r.Status), words(" "), took(r.Took), words(" "),
					el("span", class("cause"), words(r.Cause)))
			}))),
		when(len(stack) > 0, el("h2", say("Undo stack, topmost first")), el("ol", each(stack, func(s *storage.Undo) node {
			return el("li", attr("value", strconv.FormatInt(s.N, 10)),
				el("a", href(p.link("undo", "atom", s.Path)), words(s.Path)),
				when(pivots[s.Path], words(" "), el("b", say("⊥ point of no return")), words(" "),
					say("Neither this nor what is below it is undone.")))
		}))),
		p.charted(t),
	}, nil
}

func plain(text string) node { return words(text) }

// paths shows a list of atoms, if there are any.
func (p *runPage) paths(title text, count int, first []string, show func(string) node) node {
	if count == 0 {
		return none
	}
	return fragment{
		el("h2", say(title), words(": "), number(count)),
		el("ul", each(first, func(path *string) node { return el("li", show(*path)) })),
	}
}

func undoRow(s *inspect.Step) treeRow {
	r := treeRow{Path: s.Path, Name: s.Path, Status: s.State.String(), Attempt: s.UndoTry}
	if !s.Undo.Ended.IsZero() {
		r.Took = s.Undo.Took(s.Undo.Ended)
	}
	if s.UndoFail != nil {
		r.Cause = inspect.Cause(s.UndoFail)
	}
	return r
}
