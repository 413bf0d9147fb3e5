package runfilter

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// query returns the part of the filter that a store decides, and whether that is all of it. Each run of the filter is
// one of the query. The filter selects no run at all if none is true.
func (f Filter) query(now time.Time) (q storage.RunQuery, all, none bool) {
	q.Brief, all = true, true
	of, ends, undone := allStates(), allOutcomes(), allUndos()
	for i := range f.terms {
		t := &f.terms[i]
		decided := true
		switch t.field.name {
		case "state":
			of = slices.DeleteFunc(of, func(s states.Flow) bool { return t.excludes(s.String()) })
		case "outcome":
			ends = slices.DeleteFunc(ends, func(o storage.Outcome) bool { return t.excludes(outcomes[o]) })
		case "undo":
			undone = slices.DeleteFunc(undone, func(u storage.Undone) bool { return t.excludes(undos[u]) })
		case waitsField:
			if decided = false; !t.not {
				of = slices.DeleteFunc(of, states.Flow.Ended)
			}
		case "is":
			of, decided = t.is(&q, of)
		case "created":
			decided = t.bound(now, &q.CreatedFrom, &q.CreatedTo)
		case "ended":
			if !t.not {
				q.Order = storage.ByEnded
			}
			decided = t.bound(now, &q.EndedFrom, &q.EndedTo)
		default:
			decided = t.text(&q)
		}
		all = all && decided
	}
	if len(of) == 0 || len(ends) == 0 || len(undone) == 0 ||
		never(q.CreatedFrom, q.CreatedTo) || never(q.EndedFrom, q.EndedTo) {
		return q, all, true
	}
	q.States, q.Outcomes = unless(allStates(), of), unless(allOutcomes(), ends)
	q.Undos = unless(allUndos(), undone)
	return q, all, false
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

func allUndos() (all []storage.Undone) {
	for u := range storage.UndoFailed + 1 {
		all = append(all, u)
	}
	return all
}

// unless returns the values of a query; nil, which is no condition, if they are all values.
func unless[T any](all, of []T) []T {
	if len(of) == len(all) {
		return nil
	}
	return of
}

// excludes reports whether no run with this word as the field's value fulfills the term.
func (t *term) excludes(word string) bool { return t.has(word) == t.not }

// has reports whether the word is one of the values.
func (t *term) has(word string) bool {
	return slices.ContainsFunc(t.values, func(v value) bool { return v.text == word })
}

// is adds what the term says of the field "is" to the query, and returns the states that are left. It reports whether
// that is all that the term says.
func (t *term) is(q *storage.RunQuery, of []states.Flow) (left []states.Flow, decided bool) {
	open, ended, top, person := t.has("open"), t.has("ended"), t.has("top"), t.has("person")
	switch {
	case t.not:
		if top {
			q.Terms = append(q.Terms, storage.RunTerm{Of: storage.TextParent, Begins: []string{""}})
		}
		return slices.DeleteFunc(of, func(s states.Flow) bool { return s.Ended() && ended || !s.Ended() && open }), !person
	case open && ended:
		return of, true
	case !top && !person:
		return slices.DeleteFunc(of, func(s states.Flow) bool { return s.Ended() != ended }), true
	case open || ended || top && person:
		return of, false
	default:
		q.Top, q.Stuck = q.Top || top, q.Stuck || person
		return of, true
	}
}

// bound adds the term to the bounds of a time, and reports whether they are all that it says.
func (t *term) bound(now time.Time, from, to *time.Time) (decided bool) {
	if len(t.values) > 1 {
		return false
	}
	begin, end := t.values[0].span.at(now)
	if t.not {
		if t.field.name != "created" || begin.IsZero() == end.IsZero() {
			return false // a run that has not ended has no such time
		}
		begin, end = end, begin
	}
	if begin.After(*from) {
		*from = begin
	}
	if !end.IsZero() && (to.IsZero() || end.Before(*to)) {
		*to = end
	}
	return true
}

// never reports whether no time is within the bounds.
func never(from, to time.Time) bool { return !from.IsZero() && !to.IsZero() && !from.Before(to) }

// maxAsked is the number of terms that a store is asked for.
const maxAsked = 60

var texts = map[string]storage.RunText{
	"id": storage.TextID, "flow": storage.TextFlow, "parent": storage.TextParent, "definition": storage.TextDefinition,
	"code": storage.TextCode, "label": storage.TextLabel,
}

// text adds a term about a text to the query, and reports whether that is all that the term says.
func (t *term) text(q *storage.RunQuery) (decided bool) {
	of := storage.RunTerm{Of: texts[t.field.name], Key: t.values[0].key, Not: t.not}
	for i := range t.values {
		v := &t.values[i]
		switch {
		case v.key != of.Key, len(q.Terms) == maxAsked:
			return false
		case v.prefix || v.bare:
			of.Begins = append(of.Begins, v.text)
		default:
			of.Is = append(of.Is, v.text)
		}
	}
	if exact := len(of.Is) == 1 && len(of.Begins) == 0 && !of.Not; !exact || !only(q, &of) {
		q.Terms = append(q.Terms, of)
	}
	return true
}

// only makes a term with one text the condition by which the store finds the runs first of all. It returns false if the
// query has another one already.
func only(q *storage.RunQuery, t *storage.RunTerm) bool {
	text := t.Is[0]
	switch {
	case t.Of == storage.TextFlow && q.Flow == "":
		q.Flow = text
	case t.Of == storage.TextParent && q.Parent == "":
		q.Parent = text
	case t.Of == storage.TextLabel && q.Labels == nil:
		q.Labels = map[string]string{t.Key: text}
	default:
		return false
	}
	return true
}
