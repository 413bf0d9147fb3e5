package storagetest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testRunQueries compares random queries with a filter over all runs. Between the pages of a listing, runs are created,
// change, end, continue and are purged, including the last run of the page before.
//
// Guarantee (G9): lists: select, order and count as a filter over all runs, also if runs are purged, changed or created
// between pages.
func testRunQueries(t *testing.T, m Maker) {
	const queries = 12
	rounds := longtest.Count(10, 40, 40)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	w := &queried{
		T: t, Rand: rand.New(rand.NewPCG(seed, 0)), s: m.open(t), //nolint:gosec // a test needs no secret numbers
		runs: map[string]storage.Run{},
	}
	for range 20 {
		w.make()
	}
	for range rounds {
		w.change()
		for range queries {
			q := w.query()
			w.look(q)
			w.tally(q)
			w.page(q)
		}
	}
	w.refused()
}

// A queried store gets random queries. It has a model of its runs.
type queried struct {
	*testing.T
	*rand.Rand
	s    backend.Store
	made int
	runs map[string]storage.Run
}

// one returns one of the values.
func one[T any](w *queried, values ...T) T { return values[w.IntN(len(values))] }

func (w *queried) second() time.Time { return at(w.IntN(8)) }

// make creates a run in any state, in one of the three ways.
func (w *queried) make() {
	w.made++
	r := storage.Run{
		ID: fmt.Sprintf("r %03d", w.made), Flow: one(w, "trip", "tour", "leg"), Parent: one(w, "", "", "p", "q"),
		Created: w.second(), Labels: map[string]string{}, Definition: one(w, "", "abc", "abd", "b"),
	}
	for _, key := range []string{"team", "env"} {
		if value := one(w, "", "x", "y"); value != "" {
			r.Labels[key] = value
		}
	}
	if w.IntN(2) == 0 {
		r.Input = storage.Held{Data: large("in")}
	}
	head := w.head()
	switch w.IntN(3) {
	case 0:
		newRun(w.T, w.s, r).write(w.T, backend.Checkpoint{Head: head, Labels: map[string]string{"last": one(w, "x", "y")}})
	case 1:
		r.State, r.Outcome, r.Undo, r.Ended, r.Failure = head.State, head.Outcome, head.Undo, head.Ended, head.Failure
		create(w.T, w.s, r)
	default:
		create(w.T, w.s, r)
		child := storage.Run{ID: r.ID + "'", Flow: r.Flow, Parent: r.ID, Created: w.second()}
		parent := backend.Checkpoint{Children: []storage.Run{child}}
		p := begin(w.T, w.s, r.ID)
		p.write(w.T, parent)
		p.write(w.T, backend.Checkpoint{Head: head})
		w.runs[r.ID+"'"] = load(w.T, w.s, r.ID+"'")
	}
	w.runs[r.ID] = load(w.T, w.s, r.ID)
}

// head returns the record of a run after a checkpoint that releases it.
func (w *queried) head() backend.Head {
	h := backend.Head{
		State: one(w, states.FlowPending, states.FlowRunning, states.FlowSuspended, states.FlowSuccess, states.FlowFailure,
			states.FlowReverted),
		Release: true, Outcome: one(w, storage.Unfinished, storage.Succeeded, storage.FailedOutcome, storage.Cancelled),
		Undo: one(w, storage.UndoNone, storage.UndonePart, storage.UndoFailed),
	}
	if h.State.Ended() && w.IntN(9) > 0 {
		h.Ended = w.second()
	}
	if w.IntN(2) == 0 {
		h.Failure = &atom.Failure{Code: one(w, "", "C", "Ca", "Cé\U0010ffff", "D\x00\xff"), Atom: one(w, "", "a")}
	}
	return h
}

// change changes the state and the labels of some runs, purges others, and creates new ones.
func (w *queried) change() {
	for id, r := range w.runs {
		switch w.IntN(30) {
		case 0:
			if ask[int](w.T, "Purge")(w.s.Purge(w.Context(), id)) == 1 {
				delete(w.runs, id)
			}
		case 1, 2, 3:
			p := begin(w.T, w.s, id)
			if w.IntN(2) == 0 {
				p.write(w.T, backend.Checkpoint{Labels: map[string]string{"team": one(w, "", "x", "y")}})
			}
			head := w.head()
			head.Wakeups = r.Wakeups
			p.write(w.T, backend.Checkpoint{Head: head, Labels: map[string]string{"env": one(w, "", "x", "y")}})
			w.runs[id] = load(w.T, w.s, id)
		}
	}
	for len(w.runs) < 30 {
		w.make()
	}
}

// query returns a random query.
func (w *queried) query() storage.RunQuery {
	q := storage.RunQuery{
		Flow: one(w, "", "", "trip", "tour"), Parent: one(w, "", "", "", "p"), Top: w.IntN(5) == 0, Stuck: w.IntN(9) == 0,
		Order: one(w, storage.ByCreated, storage.ByEnded), Reverse: w.IntN(2) == 0, Brief: w.IntN(2) == 0,
		Limit: 1 + w.IntN(7), Labels: map[string]string{},
	}
	for _, key := range []string{"team", "env", "last"} {
		if w.IntN(4) == 0 {
			q.Labels[key] = one(w, "x", "y")
		}
	}
	for _, bound := range []*time.Time{&q.CreatedFrom, &q.CreatedTo, &q.EndedFrom, &q.EndedTo} {
		if w.IntN(5) == 0 {
			*bound = w.second()
		}
	}
	if w.IntN(3) == 0 {
		q.States = [][]states.Flow{
			{states.FlowSuccess},
			{states.FlowRunning},
			{states.FlowFailure, states.FlowReverted},
			{states.FlowPending, states.FlowRunning, states.FlowSuspended},
			{states.FlowSuspended, states.FlowSuccess, states.FlowSuccess},
		}[w.IntN(5)]
	}
	if w.IntN(3) == 0 {
		q.Outcomes = [][]storage.Outcome{
			{storage.Succeeded}, {storage.FailedOutcome, storage.Cancelled}, {storage.Unfinished, storage.TimedOut},
		}[w.IntN(3)]
	}
	if w.IntN(4) == 0 {
		q.Undos = [][]storage.Undone{
			{storage.UndoFailed}, {storage.UndonePart, storage.UndoneAll}, {storage.UndoNone},
		}[w.IntN(3)]
	}
	for w.IntN(2) == 0 {
		q.Terms = append(q.Terms, w.term())
	}
	return q
}

// term returns a random condition on a text.
func (w *queried) term() storage.RunTerm {
	t := storage.RunTerm{Of: storage.RunText(w.IntN(int(storage.TextLabel) + 1)), Not: w.IntN(3) == 0}
	texts := [][]string{
		{"r001 ", "r00", "r01", "r02", "r", "x", ""},
		{"trip", "tour", "t", "x", ""},
		{"p", "q", "x", "r0", ""},
		{"abc", "ab", "b", ""},
		{"C", "Ca", "Cé", "Cé\U0010ffff", "D", ""},
		{"x", "y", "z", ""},
	}[t.Of]
	if t.Of == storage.TextLabel {
		t.Key = one(w, "team", "env", "last", "none")
	}
	for range w.IntN(3) {
		t.Is = append(t.Is, one(w, texts...))
	}
	for range w.IntN(3) {
		t.Begins = append(t.Begins, one(w, texts...))
	}
	return t
}

// look reads a listing with looks at few runs each.
func (w *queried) look(q storage.RunQuery) {
	w.Helper()
	var got, expected []string
	for _, r := range w.sorted(&q) {
		expected = append(expected, r.ID)
	}
	most := 1 + w.IntN(9)
	for looks := 0; ; looks++ {
		page := ask[backend.LookResult](w.T, "Look")(w.s.Look(w.Context(), q, most))
		for _, r := range page.Runs {
			got = append(got, r.ID)
		}
		q.After = page.Last
		if n := len(page.Runs); q.After == nil && n == q.Limit {
			q.After = &storage.Run{Created: page.Runs[n-1].Created, Ended: page.Runs[n-1].Ended, Number: page.Runs[n-1].Number}
		}
		if q.After == nil || looks > len(w.runs) {
			break
		}
	}
	if !slices.Equal(got, expected) {
		w.Fatalf("%+v, looking at %d each:\ngot  %q\nwant %q", q, most, got, expected)
	}
}

// tally counts with looks at few runs each.
func (w *queried) tally(q storage.RunQuery) {
	w.Helper()
	t := backend.TallyQuery{
		Most: 1 + w.IntN(9), Width: one(w, 0, 3*time.Second, 3*time.Second), Since: one(w, time.Time{}, w.second()),
	}
	got, expected := map[backend.TallyKey]int{}, map[backend.TallyKey]int{}
	for _, r := range w.sorted(&q) {
		key := backend.TallyKey{State: r.State}
		if at := r.Created; t.Width > 0 {
			if q.Order == storage.ByEnded {
				at = r.Ended
			}
			if key.Span = at.Unix() / 3; !t.Since.IsZero() && key.Span < t.Since.Unix()/3 {
				key.Span = backend.Before
			}
		}
		expected[key]++
	}
	first := q
	for looks := 0; ; looks++ {
		part := ask[backend.Tally](w.T, "Tally")(w.s.Tally(w.Context(), q, t))
		for key, n := range part.Counts {
			got[key] += n
		}
		if q.After = part.Last; q.After == nil || looks > len(w.runs) {
			break
		}
	}
	if !maps.Equal(got, expected) {
		w.Fatalf("%+v, counted with %+v:\ngot  %v\nwant %v", first, t, got, expected)
	}
}

// page reads a listing page by page. A page continues at the place of the last run as it was listed.
func (w *queried) page(q storage.RunQuery) {
	w.Helper()
	for {
		var expected []string
		for _, r := range w.sorted(&q) {
			expected = append(expected, r.ID)
		}
		if n := ask[int](w.T, "CountRuns")(w.s.CountRuns(w.Context(), q)); n != min(len(expected), q.Limit) {
			w.Fatalf("%+v: counted %d of %q", q, n, expected)
		}
		all := q
		all.Limit = 0
		if n := ask[int](w.T, "CountRuns")(w.s.CountRuns(w.Context(), all)); n != len(expected) {
			w.Fatalf("%+v: counted %d of %q", all, n, expected)
		}
		expected = expected[:min(len(expected), q.Limit)]
		page := ask[[]storage.Run](w.T, "Runs")(w.s.Runs(w.Context(), q))
		if got := joined(page, func(r storage.Run) string { return r.ID }); got != strings.Join(expected, "") {
			w.Fatalf("%+v after %+v:\ngot  %s\nwant %s", q, q.After, got, strings.Join(expected, ""))
		}
		for _, r := range page {
			expect := w.runs[r.ID]
			if q.Brief && expect.Input.Ref != 0 {
				expect.Input.Data = nil
			}
			same(w.T, "run", expect, r)
		}
		if len(page) == 0 || w.IntN(3) == 0 {
			return
		}
		last := page[len(page)-1]
		q.After = &storage.Run{Created: last.Created, Ended: last.Ended, Number: last.Number}
		if last.State.Ended() && ask[int](w.T, "Purge")(w.s.Purge(w.Context(), last.ID)) == 1 {
			delete(w.runs, last.ID)
		}
		if w.IntN(3) == 0 {
			w.change()
		}
	}
}

// sorted returns the runs of a query after its place.
func (w *queried) sorted(q *storage.RunQuery) (out []storage.Run) {
	place := func(r *storage.Run) []int64 {
		at := r.Created
		if q.Order == storage.ByEnded {
			at = r.Ended
		}
		return []int64{at.UnixMicro(), r.Number}
	}
	before := func(a, b *storage.Run) int {
		if q.Reverse {
			return slices.Compare(place(a), place(b))
		}
		return slices.Compare(place(b), place(a))
	}
	for _, r := range w.runs {
		if selects(q, &r) && (q.After == nil || before(q.After, &r) < 0) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b storage.Run) int { return before(&a, &b) })
	return out
}

// selects implements a query, condition by condition.
func selects(q *storage.RunQuery, r *storage.Run) bool {
	reasons := []bool{
		q.Flow != "" && r.Flow != q.Flow,
		q.Parent != "" && r.Parent != q.Parent,
		q.Top && r.Parent != "",
		q.Stuck && !r.NeedsPerson(),
		len(q.States) > 0 && !slices.Contains(q.States, r.State),
		len(q.Outcomes) > 0 && !slices.Contains(q.Outcomes, r.Outcome),
		q.Order == storage.ByEnded && r.Ended.IsZero(),
		!q.CreatedFrom.IsZero() && r.Created.Before(q.CreatedFrom),
		!q.CreatedTo.IsZero() && !r.Created.Before(q.CreatedTo),
		!q.EndedFrom.IsZero() && (r.Ended.IsZero() || r.Ended.Before(q.EndedFrom)),
		!q.EndedTo.IsZero() && (r.Ended.IsZero() || !r.Ended.Before(q.EndedTo)),
	}
	reasons = append(reasons, len(q.Undos) > 0 && !slices.Contains(q.Undos, r.Undo))
	for _, t := range q.Terms {
		reasons = append(reasons, !fulfills(t, r))
	}
	for key, value := range q.Labels {
		reasons = append(reasons, cmp.Or(r.Labels[key], "none") != value)
	}
	return !slices.Contains(reasons, true)
}

// fulfills implements a term.
func fulfills(t storage.RunTerm, r *storage.Run) bool {
	text := map[storage.RunText]string{
		storage.TextID: r.ID, storage.TextFlow: r.Flow, storage.TextParent: r.Parent, storage.TextDefinition: r.Definition,
		storage.TextLabel: r.Labels[t.Key],
	}[t.Of]
	if t.Of == storage.TextCode && r.Failure != nil {
		text = r.Failure.Code
	}
	met := false
	for _, is := range t.Is {
		met = met || text == is
	}
	for _, begin := range t.Begins {
		met = met || strings.HasPrefix(text, begin)
	}
	return t.Not != (met && text != "")
}

// refused sends invalid queries.
func (w *queried) refused() {
	for _, q := range []storage.RunQuery{
		{Order: storage.ByEnded + 1},
		{Due: at(1), Order: storage.ByEnded},
		{Due: at(1), Reverse: true},
		{Terms: []storage.RunTerm{{Of: storage.TextLabel}}},
		{Terms: []storage.RunTerm{{Key: "k"}}},
		{Terms: []storage.RunTerm{{Is: []string{"\x00"}}}},
		{Terms: []storage.RunTerm{{Begins: []string{"\xff"}}}},
		{Terms: []storage.RunTerm{{Of: storage.TextLabel + 1}}},
		{Terms: []storage.RunTerm{{Is: make([]string, 200)}}},
		{Terms: make([]storage.RunTerm, 100)},
	} {
		want(w.T, "Runs", errOf(w.s.Runs(w.Context(), q)), storage.ErrInvalid)
		want(w.T, "Look", errOf(w.s.Look(w.Context(), q, 1)), storage.ErrInvalid)
		want(w.T, "Tally", errOf(w.s.Tally(w.Context(), q, backend.TallyQuery{Most: 1})), storage.ErrInvalid)
		want(w.T, "CountRuns", errOf(w.s.CountRuns(w.Context(), q)), storage.ErrInvalid)
	}
	for limit, count := range map[int]int{0: len(w.runs), 3: 3} {
		if n := ask[int](w.T, "CountRuns")(w.s.CountRuns(w.Context(), storage.RunQuery{Limit: limit})); n != count {
			w.Errorf("counted %d runs with the limit %d; want %d", n, limit, count)
		}
	}
}
