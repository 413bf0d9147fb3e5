package runfilter

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// query returns the part of the filter that an index of the store decides. Each run of the filter is one of the query.
// The filter selects no run at all if none is true.
func (f Filter) query(now time.Time) (q storage.RunQuery, none bool) {
	q.Brief = true
	f.index(&q)
	of, ends := allStates(), allOutcomes()
	for i := range f.terms {
		t := &f.terms[i]
		switch t.field.name {
		case "state":
			of = slices.DeleteFunc(of, func(s states.Flow) bool { return t.excludes(s.String()) })
		case "outcome":
			ends = slices.DeleteFunc(ends, func(o storage.Outcome) bool { return t.excludes(outcomes[o]) })
		case "is":
			of = slices.DeleteFunc(of, func(s states.Flow) bool { return t.only("ended") && !s.Ended() })
			of = slices.DeleteFunc(of, func(s states.Flow) bool { return t.only("open") && s.Ended() })
			q.Top = q.Top || t.only("top")
			q.Stuck = q.Stuck || t.only("person")
		case "undo":
			q.Stuck = q.Stuck || t.only(undos[storage.UndoFailed])
		case "ended":
			if !t.not {
				q.Order = storage.ByEnded
			}
		}
	}
	if len(of) == 0 || len(ends) == 0 {
		return q, true
	}
	q.States, q.Outcomes = indexed(of), ends
	if len(ends) == len(outcomes) {
		q.Outcomes = nil
	}
	f.bound(&q, now)
	return q, false
}

// index chooses the term by which the store finds the runs: one that few runs have.
func (f Filter) index(q *storage.RunQuery) {
	for _, name := range []string{"parent", "label", "flow"} {
		for i := range f.terms {
			if t := &f.terms[i]; t.field.name == name && t.find(q) {
				return
			}
		}
	}
}

// find makes a term with one whole text the condition by which the store finds the runs.
func (t *term) find(q *storage.RunQuery) bool {
	v := &t.values[0]
	if t.not || len(t.values) > 1 || v.prefix || v.bare {
		return false
	}
	switch t.field.name {
	case "parent":
		q.Parent = v.text
	case "flow":
		q.Flow = v.text
	default:
		q.Labels = map[string]string{v.key: v.text}
	}
	return true
}

func allStates() (all []states.Flow) {
	for s := range states.FlowResuming + 1 {
		all = append(all, s)
	}
	return all
}

func allOutcomes() (all []storage.Outcome) {
	for o := range storage.Continued + 1 {
		all = append(all, o)
	}
	return all
}

// indexed returns the states that the store is asked for; nil means all. The index has the states of ended runs only,
// so the store is asked for all open runs if for any.
func indexed(of []states.Flow) (asked []states.Flow) {
	open := slices.ContainsFunc(of, func(s states.Flow) bool { return !s.Ended() })
	for _, s := range allStates() {
		if slices.Contains(of, s) || open && !s.Ended() {
			asked = append(asked, s)
		}
	}
	if len(asked) == len(allStates()) {
		return nil
	}
	return asked
}

// excludes reports whether no run with this word as the field's value fulfills the term.
func (t *term) excludes(word string) bool {
	return slices.ContainsFunc(t.values, func(v value) bool { return v.text == word }) == t.not
}

// only reports whether the term asks for this word and no other.
func (t *term) only(word string) bool {
	return !t.not && len(t.values) == 1 && t.values[0].text == word
}

// bound bounds the time by which the runs are ordered.
func (f Filter) bound(q *storage.RunQuery, now time.Time) {
	name, from, to := "created", &q.CreatedFrom, &q.CreatedTo
	if q.Order == storage.ByEnded {
		name, from, to = "ended", &q.EndedFrom, &q.EndedTo
	}
	for i := range f.terms {
		t := &f.terms[i]
		if t.field.name != name || t.not || len(t.values) > 1 {
			continue
		}
		begin, end := t.values[0].span.at(now)
		if begin.After(*from) {
			*from = begin
		}
		if !end.IsZero() && (to.IsZero() || end.Before(*to)) {
			*to = end
		}
	}
}
