package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/jsontext"
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
	call := atom.Call{Run: p.run.ID, Path: a.Path, Incarnation: a.Incarnation}
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
			row(!shown.Due.IsZero(), "due", fragment{timeNode(shown.Due), words(until(shown.Due, p.visit.now))}),
			row(shown.Progress > 0, "progress", words(strconv.Itoa(int(shown.Progress*percent))+" %")),
			row(a.Kind == storage.KindTask, "idempotency key", code(call.Key())),
			row(shown.Run != "", "run", runLink(shown.Run)),
			row(shown.Failure != nil, "failure", failureNode(shown.Failure)),
			row(shown.RevertFailure != nil, "revert failure", failureNode(shown.RevertFailure))),
		values("input", shown.Input), values("result", shown.Result),
		values("details", shown.Details), values("revert result", shown.RevertResult),
		stack("stack", a.Failure), stack("stack of revert", a.RevertFailure),
	}
}

// percent is the whole of a progress.
const percent = 100

// until says how long it is until a time; nothing if it has passed.
func until(t, now time.Time) string {
	if d := t.Sub(now); d > 0 {
		return ", in " + inspect.Span(d.Truncate(time.Second))
	}
	return ""
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
	text = indented(text)
	if len(text) > mostValue {
		text = beginning(text, mostValue) + " (all of it: ebb show -o json)"
	}
	return el("details", when(open, attr("open", "")), el("summary", words(name)),
		el("pre", attr("tabindex", "0"), literal(text)))
}

// deepestValue is how deep a value nests that is shown on several lines.
const deepestValue = 20

// indented returns JSON on several lines, with all numbers as they are. Other texts stay as they are, and so do values
// that are large, deep, or would become large.
func indented(text string) string {
	var out bytes.Buffer
	if len(text) > mostValue || !json.Valid([]byte(text)) || jsontext.Depth([]byte(text)) > deepestValue {
		return text
	}
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil || out.Len() > mostValue {
		return text
	}
	return out.String()
}

// values shows a value of an atom; nothing if there is none.
func values(name string, v atom.Value) node {
	if v == nil {
		return none
	}
	return value(name, v.String(), true)
}
