package console

import (
	"context"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// attempts lists the attempts of an atom, and shows how the latest differs from the one before. One attempt that did
// not fail says nothing more than the atom does.
func (p *runPage) attempts(ctx context.Context, run *storage.Run, a *storage.Atom) (node, error) {
	all, more, err := inspect.AttemptsOf(ctx, p.store, run, a)
	if err != nil || len(all) == 0 || len(all) == 1 && !more {
		return none, err
	}
	var came []string // what attempts came to
	rows := each(all, func(one *inspect.AtomAttempt) node {
		what := say("executing")
		switch {
		case one.Failure != nil:
			f := inspect.FailureOf(one.Failure)
			what = failureNode(f)
			came = append(came, f.Code+"\n"+f.Message)
		case one.Retried:
			what = say("failed, and was retried")
		case one.Result != nil:
			what = say("succeeded")
			came = append(came, indented(one.Result.String()))
		case !one.Ended.IsZero():
			what = say("ended")
		}
		name := say("attempt {0}", number(one.Number))
		if one.Undo {
			name = say("revert, attempts: {0}", number(one.Number))
		}
		return el("li", name, words(" · "), exact(one.Began), words(" "),
			when(!one.Began.IsZero() && one.Ended.After(one.Began), took(one.Ended.Sub(one.Began)), words(" ")), what)
	})
	var differs node = none
	if n := len(came); n > 1 && came[n-1] != came[n-2] {
		differs = el("details", el("summary", say("difference to the attempt before")), differences(came[n-2], came[n-1]))
	}
	return fragment{
		el("details", attr("open", ""), el("summary", say("attempts")), el("ul", class("attempts"), rows),
			when(more, soft(say("There may be earlier attempts: see {0}.",
				el("a", href(link("run", "id", run.ID, "view", "history")), say("the history")))))),
		differs,
	}, nil
}

// tokens lists the open tokens of an atom.
func (p *runPage) tokens(ctx context.Context, run *storage.Run, a *storage.Atom) (node, error) {
	if a.State != states.TaskRunning || p.isLarge() {
		return none, nil
	}
	open, err := p.store.RunTokens(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	var all fragment
	for i := range open {
		t := &open[i]
		if t.Path != a.Path {
			continue
		}
		all = append(all, el("li",
			code(t.ID),
			when(t.Queue != "", words(" · "), say("queue {0}", words(t.Queue))),
			when(t.Worker != "", words(" · "), say("taken by {0}", words(t.Worker))),
			when(!t.Deadline.IsZero(), words(" · "), say("until {0}", exact(t.Deadline)))))
	}
	return when(len(all) > 0, el("details", attr("open", ""), el("summary", say("open tokens")), el("ul", all))), nil
}
