package console

import (
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// buttons are the commands that the run may allow now. The run itself decides.
func (p *runPage) buttons() node {
	v, id, run := p.visit, p.run.ID, &p.run
	if !v.operates {
		return none
	}
	var all fragment
	held := run.Hold || run.State == states.FlowSuspended
	switch {
	case run.State.Ended() && run.Undo == storage.UndoFailed:
		all = fragment{v.button("run", "retry-revert", id), v.button("run", "skip", id)}
	case run.State.Ended():
		if run.Outcome != storage.Succeeded && (run.Definition == "" || run.Undo == storage.UndoNone) {
			all = append(all, v.button("run", "retry", id))
		}
		if run.State != states.FlowReverted {
			all = append(all, v.button("run", "revert", id))
		}
	case held:
		all = fragment{v.button("run", "resume", id), v.button("run", "retry", id), v.button("run", "cancel", id)}
	default:
		all = fragment{v.button("run", "suspend", id), v.button("run", "signal", id), v.button("run", "cancel", id)}
	}
	return el("div", class("buttons"), all, v.button("", "jobs", "", "like", id))
}

// sentences say why the run is in its state. For a visitor who only reads, they name the commands that have buttons
// for others.
func (p *runPage) sentences() []string {
	if p.visit.operates {
		return p.why.Facts(p.visit.now)
	}
	return p.why.Sentences(p.visit.now)
}

// wakes are the commands that would let the run continue. Each has its button, at what it concerns.
func (p *runPage) wakes() node {
	v, id := p.visit, p.run.ID
	if !v.operates {
		return none
	}
	var all fragment
	row := func(of string, buttons ...node) {
		all = append(all, el("div", class("buttons"), when(of != "", words(of+" ")), fragment(buttons)))
	}
	mended := ""
	for _, w := range p.why.Wakes(p.why.Waits(p.visit.now)) {
		switch {
		case w.By == "token":
			row(w.Path, v.button("token", "complete", w.Token))
		case w.By == "event":
			row(w.Event, v.button("run", "signal", id, "f.name", w.Event))
		case w.By == "command" && w.Path == "":
			row("", v.button("run", "resume", id))
		case w.By == "command" && w.Path != mended: // the two ways to mend it come one after the other
			mended = w.Path
			row(w.Path, v.button("run", "retry-revert", id, "f.atom", w.Path), v.button("run", "skip", id, "f.atom", w.Path))
		}
	}
	return all
}

// atomButtons are the commands that concern an atom.
func (p *runPage) atomButtons(a *inspect.Atom) node {
	v, id := p.visit, p.run.ID
	if !v.operates {
		return none
	}
	if a.State == states.TaskRevertFailure.String() {
		return el("div", class("buttons"), v.button("run", "retry-revert", id, "f.atom", a.Path),
			v.button("run", "skip", id, "f.atom", a.Path))
	}
	var all fragment
	if a.State == states.TaskSuccess.String() { // otherwise there is nothing to keep
		all = append(all, v.button("run", "revert", id, "f.to", a.Path))
	}
	if p.run.Definition == "" { // a run of a language continues only where it failed
		all = append(all, v.button("run", "retry", id, "f.from", a.Path))
	}
	return when(len(all) > 0, el("div", class("buttons"),
		soft(say("To undo what came after this atom, or to run again from it:")), all))
}
