package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// panel shows the atom that is chosen, and the values of the run.
func (p *runPage) panel(ctx context.Context) (node, error) {
	chosen, open := el("h2", say("Run")), true
	if p.chosen != "" {
		shown, err := p.chosenAtom(ctx)
		switch {
		case err == nil:
			chosen, open = shown, false
		case !errors.Is(err, storage.ErrNotFound):
			return nil, err
		default:
			if chosen, err = p.chosenStep(ctx); err != nil {
				return nil, err
			}
		}
	}
	r := inspect.RunOf(&p.run)
	return fragment{
		chosen, searching, value("input of the run", r.Input.String(), open),
		when(r.Output != nil, value("output of the run", r.Output.String(), open)),
	}, nil
}

// chosenAtom shows the atom that is chosen. It may be that of a run that an atom of this run began.
func (p *runPage) chosenAtom(ctx context.Context) (node, error) {
	place, err := inspect.PlaceOf(ctx, p.store, &p.run, p.chosen)
	if err != nil {
		return nil, err
	}
	a, err := p.store.Atom(ctx, place.Run.ID, place.Path)
	if err != nil {
		return nil, err
	}
	if a.Kind == storage.KindFork && place.Run.ID == p.run.ID { // its own values are those of the language
		visit, err := p.chosenVisit(ctx)
		if err != nil {
			return nil, err
		}
		if visit != nil {
			return fragment{el("h2", words(a.Path+" "), chip(inspect.AtomOf(&place.Run, &a).Status)), visit}, nil
		}
	}
	attempts, err := p.attempts(ctx, &place.Run, &a)
	if err != nil {
		return nil, err
	}
	tokens, err := p.tokens(ctx, &place.Run, &a)
	return fragment{p.atom(&place.Run, &a), attempts, tokens}, err
}

// atom shows an atom of a run.
func (p *runPage) atom(run *storage.Run, a *storage.Atom) node {
	shown := inspect.AtomOf(run, a)
	call := atom.Call{Run: run.ID, Path: a.Path, Incarnation: a.Incarnation, PlainKey: run.PlainKeys}
	due := "due"
	if shown.State == states.TaskRetrying.String() {
		due = "next attempt"
	}
	buttons := p.atomButtons(&shown)
	if run.ID != p.run.ID {
		buttons = soft(say("An atom of the run {0}", runLink(run.ID)))
	}
	row := func(has bool, name string, value node) node {
		return when(has, el("dt", say(name)), el("dd", value))
	}
	return fragment{
		el("h2", words(shown.Path+" "), chip(shown.Status)), buttons,
		el("dl",
			row(true, "kind", words(shown.Kind)),
			row(true, "attempt", words(strconv.Itoa(shown.Attempt))),
			row(shown.Incarnation > 0, "incarnation", words(strconv.Itoa(shown.Incarnation))),
			row(true, "started", exact(shown.Started)), row(a.State != states.TaskRunning, "ended", exact(shown.Ended)),
			row(!shown.Due.IsZero(), due, fragment{exact(shown.Due), until(shown.Due, p.visit.now)}),
			row(shown.Progress > 0, "progress", words(strconv.Itoa(int(shown.Progress*percent))+" %")),
			row(a.Kind == storage.KindTask, "idempotency key", code(call.Key())),
			row(shown.Run != "", "run", runLink(shown.Run)),
			row(shown.RevertFailure != nil, "revert failure", failureNode(shown.RevertFailure)),
			row(shown.Failure != nil, "failure", failureNode(shown.Failure))),
		values("input", shown.Input), values("result", shown.Result),
		values("details", shown.Details), values("revert result", shown.RevertResult),
		stack("stack of revert", a.RevertFailure), stack("stack", a.Failure),
	}
}

// percent is the whole of a progress.
const percent = 100

// until says how long it is until a time; nothing if it has passed.
func until(t, now time.Time) node {
	if d := t.Sub(now); d > 0 {
		return fragment{words(", "), el("span", attr("data-until", machine(t)),
			say("in {0}", words(inspect.FormatDuration(d.Truncate(time.Second)))))}
	}
	return none
}

// reason returns the code and the message of a failure, either of which may be missing.
func reason(f *inspect.Failure) string {
	return strings.TrimPrefix(strings.TrimSuffix(f.Code+": "+f.Message, ": "), ": ")
}

func failureNode(f *inspect.Failure) node {
	if f == nil {
		return none
	}
	return el("bdi", class("cause"), literal(beginning(reason(f), mostValue)))
}

func stack(name string, f *atom.Failure) node {
	if f == nil {
		return none
	}
	return value(name, f.Stack, false)
}

// value shows a value that can be folded; nothing if there is none.
func value(name string, shown string, open bool) node {
	if shown == "" {
		return none
	}
	shown = indented(shown)
	long := len(shown) > mostValue
	return el("details", when(open, attr("open", "")), el("summary", say(name)),
		el("button", attr("type", "button"), attr("data-copy", ""), class("tool"), say("Copy")),
		folded(beginning(shown, mostValue)),
		when(long, soft(say("All of it: {0}", code("ebb show -o json")))))
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
