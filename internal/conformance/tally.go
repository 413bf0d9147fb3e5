package conformance

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// A Tally counts, by level and category, how many records agree.
type Tally struct {
	what       string
	reached    [6]int // records that agree at each level
	of         [6]int // records that the level counts
	categories map[string]*category
	misses     []string
	apart      map[string]int
}

type category struct{ reached, of int }

// NewTally returns an empty tally for a name, such as "asl/execution".
func NewTally(what string) *Tally {
	return &Tally{what: what, categories: map[string]*category{}, apart: map[string]int{}}
}

// Add counts a record.
func (t *Tally) Add(e *Execution, r Report) {
	c := t.categories[e.Category]
	if c == nil {
		c = &category{}
		t.categories[e.Category] = c
	}
	c.of++
	if r.Level >= 1 {
		c.reached++
	}
	most := 2
	if r.Events {
		most = 5
	}
	for level := 1; level <= most; level++ {
		t.of[level]++
		if r.Level >= level {
			t.reached[level]++
		}
	}
	if r.Miss != "" {
		t.misses = append(t.misses, "L"+string(rune('1'+r.Level))+" "+e.Name+": "+r.Miss)
	}
}

// Share returns the share of a category's records that reach L1, or 1 without records.
func (t *Tally) Share(name string) float64 {
	c := t.categories[name]
	if c == nil {
		return 1
	}
	return float64(c.reached) / float64(c.of)
}

// Categories returns the names of the categories counted, in order.
func (t *Tally) Categories() []string { return slices.Sorted(maps.Keys(t.categories)) }

// Print logs a line for each level and category, then every miss.
func (t *Tally) Print(tb testing.TB) {
	tb.Helper()
	for level := 1; level <= 5; level++ {
		tb.Logf("conformance %s: L%d %d/%d", t.what, level, t.reached[level], t.of[level])
	}
	for _, name := range t.Categories() {
		c := t.categories[name]
		tb.Logf("%s, category %s: L1 %d/%d", t.what, name, c.reached, c.of)
	}
	for _, why := range slices.Sorted(maps.Keys(t.apart)) {
		tb.Logf("%s, not compared because of %s: %d", t.what, why, t.apart[why])
	}
	for _, miss := range t.misses {
		tb.Logf("conformance %s: miss %s", t.what, miss)
	}
	var figures []figure
	for level := 1; level <= 5; level++ {
		figures = append(figures, figure{fmt.Sprintf("L%d", level), t.reached[level], t.of[level]})
	}
	coverage(tb, t.what, figures, t.misses)
}

// DemandLevels fails the test unless at least the given shares of all records reach the levels, from L1 on.
func (t *Tally) DemandLevels(tb testing.TB, least ...float64) {
	tb.Helper()
	for i, want := range least {
		level := i + 1
		if got := float64(t.reached[level]) / float64(max(1, t.of[level])); got < want {
			tb.Errorf("%.1f %% of the records reach L%d; want %.0f %%", got*100, level, want*100)
		}
	}
}

// Apart counts a record that is not compared, by the reason.
func (t *Tally) Apart(why string) { t.apart[why]++ }

// Demand fails the test unless at least the given share of each category agrees at L1. Each named category must have
// records.
func (t *Tally) Demand(tb testing.TB, least float64, all ...string) {
	tb.Helper()
	for _, name := range t.Categories() {
		want := least
		if slices.Contains(all, name) {
			want = 1
		}
		if share := t.Share(name); share < want {
			tb.Errorf("category %s: %.0f %% reach L1; want %.0f %%", name, share*100, want*100)
		}
	}
}
