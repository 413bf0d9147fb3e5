package api

import (
	"net/http"
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/storage"
)

// Runs is a page of runs, newest first.
type Runs struct {
	Filter string        `json:"filter"`         // the filter, as it was understood
	Runs   []inspect.Run `json:"runs"`           // may be empty although there is a next page
	Next   string        `json:"next,omitempty"` // cursor of the next page; "" if there are no more runs
	Back   time.Time     `json:"back,omitzero"`  // time of the oldest run that was looked at
}

// runs serves a page of runs.
func (a *api) runs(c *call) (any, error) {
	filter, err := runfilter.Parse(c.query.Get("filter"))
	if err != nil {
		return nil, err
	}
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	search := a.search(filter)
	search.Cursor, search.Limit = runfilter.ParseCursor(c.query.Get("cursor")), limit
	page, err := runfilter.Find(c.Context(), a.store, search)
	if err != nil {
		return nil, err
	}
	out := Runs{Filter: filter.String(), Runs: []inspect.Run{}, Next: page.Next.String(), Back: page.Back.UTC()}
	for i := range page.Runs {
		out.Runs = append(out.Runs, inspect.RunOf(&page.Runs[i]))
	}
	return out, nil
}

// one serves a run.
func (a *api) one(c *call) (any, error) {
	run, err := c.run(a)
	if err != nil {
		return nil, err
	}
	messages, err := inspect.UnsentOf(c.Context(), a.store, run.ID)
	return inspect.SummaryOf(&run, messages), err
}

// Atoms is a page of the atoms of a run, ordered by path.
type Atoms struct {
	Atoms []inspect.Atom `json:"atoms"`
	Next  string         `json:"next,omitempty"` // path for after, for the next page; "" with an empty page
}

func (a *api) atoms(c *call) (any, error) {
	run, limit, err := c.page(a)
	if err != nil {
		return nil, err
	}
	page, err := a.store.Atoms(c.Context(), run.ID, storage.AtomQuery{After: c.query.Get("after"), Limit: limit})
	out := Atoms{Atoms: []inspect.Atom{}}
	for i := range page {
		out.Atoms = append(out.Atoms, inspect.AtomOf(&run, &page[i]))
		out.Next = page[i].Path
	}
	return out, err
}

// History is a page of the history of a run, in its order.
type History struct {
	Entries []inspect.Entry `json:"entries"`
	Next    int64           `json:"next,omitempty"` // number for after, for the next page; 0 if there are no more lines
}

// linesAsked returns the run whose history is asked for, the number of the line after which to begin, and how many
// lines to return.
func (c *call) linesAsked(a *api) (run storage.Run, after int64, limit int, err error) {
	if run, limit, err = c.page(a); err == nil {
		after, err = c.number("after", 0)
	}
	return run, after, limit, err
}

func (a *api) history(c *call) (any, error) {
	run, after, limit, err := c.linesAsked(a)
	if err != nil {
		return nil, err
	}
	entries, next, err := inspect.HistoryPage(c.Context(), a.store, &run, after, limit)
	return History{entries, next}, err
}

// Events is a page of the history of a run in the terms of its language, in its order.
type Events struct {
	Events []inspect.Event `json:"events"`
	Next   int64           `json:"next,omitempty"` // number for after, for the next page; 0 if there are no more events
}

func (a *api) events(c *call) (any, error) {
	run, after, limit, err := c.linesAsked(a)
	if err != nil {
		return nil, err
	}
	events, next, err := inspect.EventPage(c.Context(), a.store, &run, after, limit)
	return Events{events, next}, err
}

// UndoStack is a page of the undo stack of a run, topmost first: the top is undone first.
type UndoStack struct {
	Undo []UndoEntry `json:"undo"`
	Next int64       `json:"next,omitempty"` // number for below, for the next page; 0 if there are no more entries
}

// An UndoEntry is an atom that can be reverted.
type UndoEntry struct {
	Number int64  `json:"number"` // place in the stack, from 1 at the bottom
	Path   string `json:"path"`   // path of the atom
}

func (a *api) undoStack(c *call) (any, error) {
	run, limit, err := c.page(a)
	if err != nil {
		return nil, err
	}
	below, err := c.number("below", 0)
	if err != nil {
		return nil, err
	}
	page, err := a.store.Undos(c.Context(), run.ID, below, limit)
	out := UndoStack{Undo: []UndoEntry{}}
	for i := range page {
		out.Undo = append(out.Undo, UndoEntry{page[i].N, page[i].Path})
		if out.Next = page[i].N; out.Next == 1 {
			out.Next = 0
		}
	}
	return out, err
}

// Why says why a run is in its present state, and what would change that.
type Why struct {
	inspect.Why

	Sentences []string `json:"sentences"` // the same for people
}

// why serves the diagnosis of a run.
func (a *api) why(c *call) (any, error) {
	run, err := c.run(a)
	if err != nil {
		return nil, err
	}
	found, err := a.options.Diagnose(c.Context(), run)
	if err != nil {
		return nil, err
	}
	now := a.store.Now()
	return Why{found.Why(now), found.Sentences(now)}, nil
}

// problemNoPreview says that only the program that has the flows can tell.
func problemNoPreview() error {
	return problem(http.StatusNotImplemented, "no_flow", "this server has no flows: ask the one that drives the run")
}
