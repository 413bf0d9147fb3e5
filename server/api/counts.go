package api

import (
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/states"
)

// Counts says how many runs a filter selects, by state and over time.
type Counts struct {
	Filter string         `json:"filter"` // the filter, as it was understood
	States map[string]int `json:"states"` // by state; states without a run are left out
	Bars   []Bar          `json:"bars"`   // by spans of time, oldest first; spans without a run are left out
	// With by: the runs by the values of these fields, the largest groups first, and how many are in groups beyond 1,000
	Groups []runfilter.Group `json:"groups,omitzero"`
	Others int               `json:"others,omitzero"`
	// There may be more runs, all of them older than back: the counts are what there are at least
	More bool      `json:"more,omitzero"`
	Back time.Time `json:"back,omitzero"`
}

// A Bar is the number of runs within a span of time.
type Bar struct {
	From   time.Time      `json:"from"`
	States map[string]int `json:"states"`
}

// search returns the search for the runs of a filter, within a bounded time.
func (a *api) search(filter runfilter.Filter) runfilter.Search {
	now := a.store.Now()
	waits := inspect.NewWaits(a.store, inspect.WaitingSearch{Now: now, Machine: a.options.Machine})
	return runfilter.Search{Filter: filter, Now: now, Clock: time.Now, Waits: waits}
}

// counts serves the counts of a filter.
func (a *api) counts(c *call) (any, error) {
	filter, err := runfilter.Parse(c.query.Get("filter"))
	if err != nil {
		return nil, err
	}
	var width time.Duration
	if text := c.query.Get("width"); text != "" {
		if width, err = runfilter.ParseAge(text); err != nil || width == 0 {
			return nil, problem(400, "invalid", "width is %.50q: want a length of time, such as 1h (s, m, h, d, w)", text)
		}
	}
	counted, err := runfilter.Count(c.Context(), a.store, a.search(filter), width, runfilter.MaxBars)
	if err != nil {
		return nil, err
	}
	out := Counts{
		Filter: filter.String(), States: byName(counted.States), Bars: []Bar{}, More: counted.More, Back: counted.Back.UTC(),
	}
	if text := c.query.Get("by"); text != "" {
		by, err := runfilter.ParseBy(text)
		if err != nil {
			return nil, err
		}
		found, err := runfilter.CountBy(c.Context(), a.store, a.search(filter), by, nil)
		if err != nil {
			return nil, err
		}
		if out.Groups, out.Others = found.Groups, found.Others; found.Next != (runfilter.Cursor{}) {
			if !out.More || found.Back.After(out.Back) {
				out.Back = found.Back.UTC()
			}
			out.More = true
		}
	}
	for _, bar := range counted.Bars {
		out.Bars = append(out.Bars, Bar{bar.From, byName(bar.States)})
	}
	return out, nil
}

func byName(counts map[states.Flow]int) map[string]int {
	out := make(map[string]int, len(counts))
	for state, n := range counts {
		out[state.String()] = n
	}
	return out
}

// waiting serves what open runs wait for.
func (a *api) waiting(c *call) (any, error) {
	return runfilter.Waiting(c.Context(), a.store, inspect.WaitingSearch{
		Now: a.store.Now(), Clock: time.Now, Machine: a.options.Machine,
	})
}
