package runfilter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

const (
	// MaxGroups is the maximum number of groups that [CountBy] returns.
	//
	//limit:shown `ebb list --count-by`: groups of runs | {}, the first that were found |
	//limit:and one number, for the runs of all others
	MaxGroups = 1000
	// MaxBy is the maximum number of fields by which CountBy groups.
	//
	//limit:values `--count-by`: fields | {} | usage error
	MaxBy = 5
)

// By are fields by which [CountBy] groups runs.
type By struct{ fields []byField }

// A byField is one field of a By.
type byField struct {
	name string // as it was typed
	key  string // of a label
	of   *field
	text func(*storage.Run) (string, bool) // false if the run has none
}

// byTexts are the fields by which runs can be grouped, besides labels.
var byTexts = map[string]func(*storage.Run) string{
	"code":       codeOf,
	"flow":       func(run *storage.Run) string { return run.Flow },
	"state":      func(run *storage.Run) string { return run.State.String() },
	"outcome":    func(run *storage.Run) string { return outcomes[run.Outcome] },
	"undo":       func(run *storage.Run) string { return undos[run.Undo] },
	"definition": func(run *storage.Run) string { return run.Definition },
	"parent":     func(run *storage.Run) string { return run.Parent },
}

// ByNames are the names of the fields by which runs can be grouped, as people write them.
const ByNames = "code, flow, state, outcome, undo, definition, parent, label:KEY"

// ParseBy reads fields that are separated by commas, such as code,flow,label:region.
func ParseBy(text string) (by By, err error) {
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		one := byField{name: name}
		key, isLabel := strings.CutPrefix(name, labelField+":")
		of := byTexts[name]
		switch {
		case isLabel && key != "":
			one.key, name = key, labelField
			one.text = func(run *storage.Run) (string, bool) { v, has := run.Labels[key]; return v, has }
		case of != nil:
			one.text = func(run *storage.Run) (string, bool) { v := of(run); return v, v != "" }
		default:
			return by, fmt.Errorf("%w: runs cannot be counted by %.50q: want %s", storage.ErrInvalid, name, ByNames)
		}
		if len(by.fields) == MaxBy || slices.ContainsFunc(by.fields, func(o byField) bool { return o.name == one.name }) {
			return by, fmt.Errorf("%w: runs cannot be counted by %.50q, too: want at most %d different fields",
				storage.ErrInvalid, one.name, MaxBy)
		}
		one.of = fields[slices.IndexFunc(fields, func(f *field) bool { return f.name == name })]
		by.fields = append(by.fields, one)
	}
	return by, nil
}

// Names returns the fields as they were typed.
func (by *By) Names() []string {
	names := make([]string, len(by.fields))
	for i := range by.fields {
		names[i] = by.fields[i].name
	}
	return names
}

// A Group is the runs whose fields have the same values.
type Group struct {
	Values []string `json:"values"` // of the fields, in their order; "" if the runs have none
	Runs   int      `json:"runs"`   // number of runs
	Newest string   `json:"newest"` // id of the first of them that was found
	Filter string   `json:"filter"` // selects the runs of the group
}

// Groups says how many runs a filter selects, by the values of fields.
type Groups struct {
	Groups []Group // the largest first
	Others int     // number of runs of the groups beyond [MaxGroups]
	// Next is where counting continues, as in [Page]; Back is the time of the oldest run that was looked at.
	Next Cursor
	Back time.Time
}

// CountBy counts the runs that a filter selects by the values of fields. It counts newest first, and for a bounded
// number of runs or time as [Find] does; the search's Limit does not count. Counting continues if was is what was
// counted so far, and the search has its Next.
func CountBy(ctx context.Context, lists backend.Lists, s Search, by By, was *Groups) (Groups, error) {
	found := map[string]int{}
	var g Groups
	if was != nil {
		g = *was
		for i := range g.Groups {
			found[keyOf(g.Groups[i].Values)] = i
		}
	}
	var err error
	g.Next, g.Back, err = s.each(ctx, lists, func(bool) int { return storage.PageRuns },
		func(_ *storage.RunQuery, run *storage.Run) bool {
			g.add(run, &s, by, found)
			return true
		})
	slices.SortStableFunc(g.Groups, func(a, b Group) int {
		return cmp.Or(b.Runs-a.Runs, slices.Compare(a.Values, b.Values))
	})
	return g, err
}

// add counts a run.
func (g *Groups) add(run *storage.Run, s *Search, by By, found map[string]int) {
	values := make([]string, len(by.fields))
	for i := range by.fields {
		values[i], _ = by.fields[i].text(run)
	}
	key := keyOf(values)
	i, known := found[key]
	switch {
	case known:
	case len(g.Groups) == MaxGroups:
		g.Others++
		return
	default:
		i = len(g.Groups)
		found[key] = i
		g.Groups = append(g.Groups, Group{Values: values, Newest: run.ID, Filter: s.Filter.And(by.filter(run)).String()})
	}
	g.Groups[i].Runs++
}

func keyOf(values []string) string { return strings.Join(values, "\x00") }

// filter returns the filter of the runs that have the same values as this one.
func (by *By) filter(run *storage.Run) (f Filter) {
	for i := range by.fields {
		one := &by.fields[i]
		text, has := one.text(run)
		t := term{field: one.of, values: []value{{key: one.key, text: text}}}
		if !has {
			t.not, t.values[0] = true, value{key: one.key, bare: one.key != "", prefix: one.key == ""}
		}
		f.terms = append(f.terms, t)
	}
	return f
}

// Total returns how many runs were counted.
func (g *Groups) Total() int {
	n := g.Others
	for i := range g.Groups {
		n += g.Groups[i].Runs
	}
	return n
}
