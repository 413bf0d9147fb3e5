package console

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/storage"
)

// panel shows the atom that is chosen, and the values of the run.
func (p *runPage) panel(ctx context.Context) (node, error) {
	chosen, open := el("h2", words("Run")), true
	if p.chosen != "" {
		a, err := p.store.Atom(ctx, p.run.ID, p.chosen)
		switch {
		case err == nil:
			chosen, open = p.atom(&a), false
		case !errors.Is(err, storage.ErrNotFound): // a state that only computes has no atom
			return nil, err
		}
	}
	r := inspect.RunOf(&p.run)
	return fragment{
		chosen, value("input of the run", r.Input.String(), open),
		when(r.Output != nil, value("output of the run", r.Output.String(), open)),
	}, nil
}

// atom shows an atom.
func (p *runPage) atom(a *storage.Atom) node {
	shown := inspect.AtomOf(&p.run, a)
	row := func(has bool, name string, value node) node {
		return when(has, el("dt", words(name)), el("dd", value))
	}
	return fragment{
		el("h2", words(shown.Path+" "), chip(shown.Status)), p.atomButtons(&shown),
		el("dl",
			row(true, "kind", words(shown.Kind)),
			row(true, "attempt", words(strconv.Itoa(shown.Attempt))),
			row(shown.Incarnation > 0, "incarnation", words(strconv.Itoa(shown.Incarnation))),
			row(true, "started", timeNode(shown.Started)), row(true, "ended", timeNode(shown.Ended)),
			row(shown.Run != "", "run", runLink(shown.Run)),
			row(shown.Failure != nil, "failure", failureNode(shown.Failure)),
			row(shown.RevertFailure != nil, "revert failure", failureNode(shown.RevertFailure))),
		values("input", shown.Input), values("result", shown.Result),
		values("details", shown.Details), values("revert result", shown.RevertResult),
		stack("stack", a.Failure), stack("stack of revert", a.RevertFailure),
	}
}

func timeNode(t time.Time) node {
	if t.IsZero() {
		return words("–")
	}
	return exact(t)
}

func failureNode(f *inspect.Failure) node {
	if f == nil {
		return none
	}
	return el("span", class("cause"), literal(beginning(f.Code+": "+f.Message, mostValue)))
}

func stack(name string, f *atom.Failure) node {
	if f == nil {
		return none
	}
	return value(name, f.Stack, false)
}

// value shows a value that can be folded; nothing if there is none.
func value(name, text string, open bool) node {
	if text == "" {
		return none
	}
	if len(text) > mostValue {
		text = beginning(text, mostValue) + " (all of it: ebb show -o json)"
	}
	return el("details", when(open, attr("open", "")), el("summary", words(name)),
		el("pre", attr("tabindex", "0"), literal(text)))
}

// values shows a value of an atom; nothing if there is none.
func values(name string, v atom.Value) node {
	if v == nil {
		return none
	}
	return value(name, v.String(), true)
}
