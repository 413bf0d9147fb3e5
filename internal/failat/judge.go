package failat

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// wrong says what is wrong with a run.
type wrong struct {
	what    string   // as a sentence
	sides   string   // meaning of the two sides of the changes
	changes []change // from the expected world to the actual one
	end     bool     // the end of the run itself is wrong
}

// Try runs a case and returns what is wrong with it, or nil.
func (x *Explorer) Try(h Host, c Case) *Finding {
	var w *wrong
	if c.script.cut > 0 {
		w = x.judgeCrash(h, c.script.fault, x.play(h, c.script, false))
	} else {
		w = x.judgeFault(h, c.script.fault)
	}
	if w == nil {
		return nil
	}
	traced := x.play(h, c.script, true)
	if c.script.cut == 0 {
		w.changes = slices.DeleteFunc(w.changes, func(c change) bool { return x.mayStay(traced, c.place) })
	}
	if !w.end && len(w.changes) == 0 {
		return nil
	}
	x.bad++
	return x.find(c, w, traced)
}

// judgeFault judges a run in which an atom failed. It returns nil if nothing is wrong.
func (x *Explorer) judgeFault(h Host, f fault) *wrong {
	p := x.run(h, f)
	switch {
	case p.err != nil && f.how == unanswered:
		return &wrong{
			what: fmt.Sprintf("The run waits for ever, as %s has no Deadline in its atom.Deferral", f.path), end: true,
		}
	case p.err != nil:
		return &wrong{what: fmt.Sprintf("The run did not come to rest: %v.", p.err), end: true}
	case p.faults == 0:
		return nil // something else interfered
	}
	switch p.run.State {
	case states.FlowSuccess:
		return x.judgeSuccess(h, f, p)
	case states.FlowReverted, states.FlowFailure:
		w := &wrong{
			what:    fmt.Sprintf("The run ended %v, but the world is not as it was before it", p.run.State),
			sides:   "before → after",
			changes: p.begin.diff(p.end),
			end:     p.run.Undo == storage.UndoFailed,
		}
		if w.end {
			w.what = "The run could not be undone"
		}
		return w.orNil()
	default:
		return &wrong{what: fmt.Sprintf("The run did not end: it rests %v.", p.run.State), end: true}
	}
}

// judgeSuccess judges a run that succeeded despite a failure. It compares the run with the closest run in which the
// atom did nothing before it failed, or never failed.
func (x *Explorer) judgeSuccess(h Host, f fault, p *played) *wrong {
	w := &wrong{
		what:  "The run succeeded in the end, but the world is not as it is when nothing fails",
		sides: "when nothing fails → now",
	}
	if p.way == x.plain.way {
		w.changes = x.plain.end.diff(p.end)
		return w.orNil()
	}
	f.how = before
	idle := x.run(h, f)
	if idle.err != nil || idle.run.State != states.FlowSuccess || idle.way != p.way {
		return nil // the flow took another way
	}
	w.what = "The run succeeded another way, but the world is not as it is when the atom fails before it did anything"
	w.sides = "when it did nothing → now"
	w.changes = idle.end.diff(p.end)
	return w.orNil()
}

// judgeCrash compares a run whose process died with the same run without a crash.
func (x *Explorer) judgeCrash(h Host, f fault, p *played) *wrong {
	alone := x.run(h, f)
	switch {
	case p.err != nil:
		return &wrong{what: fmt.Sprintf("The run did not come to rest: %v.", p.err), end: true}
	case alone.run.State != p.run.State || alone.run.Undo != p.run.Undo:
		what := fmt.Sprintf("The run ended %v; without the crash it ends %v", p.run.State, alone.run.State)
		if alone.run.State == p.run.State {
			what = "Not the same was undone as without the crash"
		}
		return &wrong{what: what, sides: "without the crash → with it", changes: alone.end.diff(p.end), end: true}
	}
	w := &wrong{
		what:    fmt.Sprintf("The run ended %v, as without the crash, but the world is another one", p.run.State),
		sides:   "without the crash → with it",
		changes: alone.end.diff(p.end),
	}
	return w.orNil()
}

func (w *wrong) orNil() *wrong {
	if w.end || len(w.changes) > 0 {
		return w
	}
	return nil
}

// mayStay reports whether only atoms that need not be undone changed the place.
func (x *Explorer) mayStay(p *played, place string) bool {
	changed := false
	for _, st := range p.steps {
		if !st.changes(place) {
			continue
		}
		changed = true
		if !slices.Contains(x.of.Stays, st.Path) && !p.isPivoted(st.Path) {
			return false
		}
	}
	return changed
}

// changes reports whether the call changed the world at that place.
func (s *step) changes(place string) bool { return s.before.at(place) != s.end.at(place) }
