package failat

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/states"
)

// A culprit is a call that did something wrong, or a call that is missing.
type culprit struct {
	path string
	text string
}

// A detective finds the calls that caused a difference. Its statements follow from what each call was seen to change.
// It does not guess.
type detective struct {
	p      *played
	places []string // where the world is wrong
	found  []culprit
	stuck  bool // a Revert failed
}

// culprits lists them in the order of their mistakes, each atom once.
func culprits(p *played, changes []change) []culprit {
	d := &detective{p: p}
	for _, c := range changes {
		d.places = append(d.places, c.place)
	}
	for i, st := range p.steps {
		if st.Revert {
			d.revert(i)
		} else {
			d.execute(i)
		}
	}
	d.standing()
	return d.found
}

func (d *detective) blamef(path, format string, args ...any) {
	if !slices.ContainsFunc(d.found, func(c culprit) bool { return c.path == path }) {
		d.found = append(d.found, culprit{path, fmt.Sprintf(format, args...)})
	}
}

// execute checks an Execute. Called again under its key, it must change nothing and return the same result.
func (d *detective) execute(i int) {
	st := d.p.steps[i]
	former := d.last(i, st, false)
	if former == nil || d.last(i, st, true) != nil {
		return
	}
	worked := former.err == nil || former.made && len(former.before.diff(former.end)) > 0
	if worked && st.err != nil && !st.made {
		d.blamef(st.Path, "Execute of %s fails when it is called again under its key %q: %v. "+
			"What it finds done already under its key it may take for its own work.", st.atom(), st.Key(), st.err)
	}
	for _, place := range d.places {
		if st.changes(place) && len(former.before.diff(former.end)) > 0 {
			d.blamef(st.Path, "Execute of %s is not idempotent: called again under its key %q, it changed %s from %s to %s. "+
				"Hand atom.IdempotencyKey(ctx) to what it calls, or look first what is there.",
				st.atom(), st.Key(), place, st.before.at(place), st.end.at(place))
		}
	}
}

// revert checks a Revert. For any outcome that it is told, and called once or twice, it must leave the world as it was
// before its atom.
func (d *detective) revert(i int) {
	st := d.p.steps[i]
	former, first, did := d.last(i, st, true), d.first(i, st), d.last(i, st, false)
	if st.err != nil {
		d.stuck = true
		again := ""
		if former != nil && former.err == nil {
			again = " when it is called again"
		}
		d.blamef(st.Path, "Revert of %s, told %s, fails%s: %v.%s", st.atom(), st.told, again, st.err, d.order(i))
	}
	for _, place := range d.places {
		want := st.before.at(place)
		met := want // the state that the Revert should have met
		if first != nil {
			want, met = first.before.at(place), did.end.at(place)
		}
		if former != nil {
			met = former.end.at(place)
		}
		got := st.end.at(place)
		if got == want || st.before.at(place) != met {
			continue // it is restored, or another atom changed it and is not undone
		}
		switch {
		case former != nil && met == want:
			d.blamef(st.Path, "Revert of %s is not idempotent: called again, it made %s %s, which it had put back to %s. "+
				"A crash makes a Revert be called twice.%s", st.atom(), place, got, want, d.order(i))
		case !st.changes(place):
			d.blamef(st.Path, "Revert of %s, told %s, left %s at %s; before %s it was %s.%s%s",
				st.atom(), st.told, place, got, st.atom(), want, advice(st.told), d.order(i))
		case met == want:
			d.blamef(st.Path, "Revert of %s, told %s, made %s %s, though %s had left it at %s.%s%s",
				st.atom(), st.told, place, got, st.atom(), want, doubt(st.told), d.order(i))
		default:
			d.blamef(st.Path, "Revert of %s, told %s, made %s %s; before %s it was %s.%s",
				st.atom(), st.told, place, got, st.atom(), want, d.order(i))
		}
	}
}

// standing finds atoms that should have been undone and were not.
func (d *detective) standing() {
	for i, st := range d.p.steps {
		if st.Revert || !slices.ContainsFunc(d.places, st.changes) || slices.ContainsFunc(d.p.steps[i:], st.undoneBy) {
			continue
		}
		renewed := slices.ContainsFunc(d.p.steps[i:], func(s *step) bool {
			return s.Path == st.Path &&
				s.Incarnation > st.Incarnation
		})
		switch {
		case d.p.run.State == states.FlowSuccess && st.err != nil && d.last(len(d.p.steps), st, false) == st && !renewed:
			d.blamef(st.Path, "%s failed, and what it had done was not undone, since the flow went on without it.", st.atom())
		case d.p.run.State == states.FlowSuccess && !renewed: // its work may stay
		case !d.p.reverts[st.Path]:
			d.blamef(st.Path, "%s has no Revert, so what it did stays. Give it one, or name it in World.Stays if that may be.",
				st.atom())
		case !d.stuck: // otherwise the Revert of a dependent atom failed, and is the cause
			d.blamef(st.Path, "%s was not undone.", st.atom())
		}
	}
}

func (s *step) undoneBy(later *step) bool {
	return later.Revert && later.Path == s.Path && later.Incarnation == s.Incarnation
}

// last returns the last call before i, forward or back, of the same atom as st.
func (d *detective) last(i int, st *step, revert bool) *step {
	for _, s := range slices.Backward(d.p.steps[:i]) {
		if s.Path == st.Path && s.Incarnation == st.Incarnation && s.Revert == revert {
			return s
		}
	}
	return nil
}

// first returns the first Execute before i of the same atom as st.
func (d *detective) first(i int, st *step) *step {
	for _, s := range d.p.steps[:i] {
		if s.Path == st.Path && s.Incarnation == st.Incarnation && !s.Revert {
			return s
		}
	}
	return nil
}

// order says whether the Revert at i came too early or too late, as far as the order in which atoms were executed
// shows.
func (d *detective) order(i int) string {
	st := d.p.steps[i]
	mine := slices.Index(d.p.steps, d.first(i, st))
	for k, s := range d.p.steps[:i] {
		if s.Revert || s.Path == st.Path || !d.p.reverts[s.Path] || mine < 0 {
			continue
		}
		early, late := s, st
		undone := slices.ContainsFunc(d.p.steps[:i], s.undoneBy)
		if k > mine {
			early, late, undone = st, s, !undone
		}
		if undone {
			return fmt.Sprintf(
				" Note that %[1]s was undone before %[2]s, which came after it: nothing in the flow says that %[2]s depends on "+
					"%[1]s. "+
					"If it does, link them, or let %[2]s require what %[1]s provides.", early.atom(), late.atom())
		}
	}
	return ""
}

// advice is a hint for a Revert that did nothing.
func advice(told string) string {
	switch told {
	case "failed":
		return " Failed does not mean that nothing was done: look it up by atom.IdempotencyKey(ctx)."
	case "unknown":
		return " Unknown means that it may have been done: look it up by atom.IdempotencyKey(ctx)."
	default:
		return ""
	}
}

// doubt is a hint for a Revert that did too much.
func doubt(told string) string {
	if told == "done" {
		return ""
	}
	return " When it is told " + told + " there may be nothing to undo: look it up by atom.IdempotencyKey(ctx)."
}
