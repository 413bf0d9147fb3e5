package console

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
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
	causes := map[string]string{} // why atoms could not be undone
	for _, s := range t.Undone {
		r := undoRow(s)
		if s.State == states.TaskRevertFailure {
			causes[s.Path] = r.Cause
			continue
		}
		undone = append(undone, r)
	}
	left, err := p.left(ctx, t)
	if err != nil {
		return nil, err
	}
	passed, err := p.passedPivots(ctx)
	if err != nil {
		return nil, err
	}
	u := &p.why.Undo
	waits := p.why.Waits(p.visit.now)
	return fragment{
		p.paths("Could not be undone", u.Stuck.Count, u.Stuck.First, func(path string) node {
			name := fragment{el("b", p.atomLink(path)), words(" "), el("span", class("cause"), words(causes[path])), words(" ")}
			if slices.ContainsFunc(waits, func(w inspect.Wait) bool {
				return w.Kind == inspect.WaitsForMending && strings.HasPrefix(path, w.Path+"/")
			}) { // an atom of a run that the atom at w.Path began, and commands are for that one
				return name
			}
			if v := p.visit; v.operates {
				return fragment{
					name, v.button("run", "retry-revert", p.run.ID, "f.atom", path),
					v.button("run", "skip", p.run.ID, "f.atom", path),
				}
			}
			retry, skip := inspect.MendCommands(&p.run, path, p.why.Alive())
			return fragment{name, say("{0} or {1}", code(retry), code(skip))}
		}),
		p.paths("⊥ Points of no return that were passed", len(passed), passed, plain),
		when(len(passed) > 0, soft(say("Neither these nor what they depended on is undone."))),
		p.paths("◆ Stays done", u.StaysDone.Count, u.StaysDone.First, plain),
		p.paths("◇ May stay done", u.MayStayDone.Count, u.MayStayDone.First, plain),
		when(len(undone) == 0, calm("Nothing was undone.")),
		when(len(undone) > 0, el("h2", say("Undone, last first")),
			el("ol", class("undone long"), each(undone, func(r *treeRow) node {
				return el("li", p.atomLink(r.Path), words(" "), chip(r.Status), words(" "), took(r.Took), words(" "),
					el("span", class("cause"), words(r.Cause)))
			}))),
		when(len(left) > 0, el("h2", say("Can still be undone, last first")),
			el("ol", class("long"), each(left, func(path *string) node { return el("li", p.atomLink(*path)) }))),
		when(len(stack) > 0, el("h2", say("Undo stack, topmost first")),
			el("ol", class("long"), each(stack, func(s *storage.Undo) node {
				return el("li", attr("value", strconv.FormatInt(s.N, 10)), p.atomLink(s.Path),
					when(pivots[s.Path], words(" "), el("b", say("⊥ point of no return")), words(" "),
						say("Neither this nor what is below it is undone.")))
			}))),
		p.charted(t),
	}, nil
}

// passedPivots returns the points of no return of a flow in Go that have succeeded. Those of a definition stand in the
// undo stack.
func (p *runPage) passedPivots(ctx context.Context) (passed []string, err error) {
	if p.machine != nil || p.run.Structure == "" {
		return nil, nil
	}
	picture, err := inspect.PlanView(ctx, p.store, &p.run)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	for i := range picture.Nodes {
		if n := &picture.Nodes[i]; n.Pivot && n.State == states.TaskSuccess.String() {
			passed = append(passed, n.ID)
		}
	}
	return passed, err
}

func plain(text string) node { return words(text) }

// paths shows a list of atoms, if there are any.
func (p *runPage) paths(title string, count int, first []string, show func(string) node) node {
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
