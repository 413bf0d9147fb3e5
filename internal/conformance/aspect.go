package conformance

import "testing"

// Aspects count, for each of several aspects, how many records agree.
type Aspects struct {
	what   string
	names  []string // in the order in which they were first counted
	passed map[string]int
	total  map[string]int
	misses []string
}

// NewAspects returns empty counts for a name, such as "asl/validation".
func NewAspects(what string) *Aspects {
	return &Aspects{what: what, passed: map[string]int{}, total: map[string]int{}}
}

// Count counts a record under an aspect. The miss says how it differs; "" means that it agrees.
func (a *Aspects) Count(aspect, record, miss string) {
	if a.total[aspect] == 0 {
		a.names = append(a.names, aspect)
	}
	a.total[aspect]++
	if miss == "" {
		a.passed[aspect]++
	} else {
		a.misses = append(a.misses, aspect+" "+record+": "+miss)
	}
}

// Share returns the share of an aspect's records that agree, or 1 without records.
func (a *Aspects) Share(aspect string) float64 {
	if a.total[aspect] == 0 {
		return 1
	}
	return float64(a.passed[aspect]) / float64(a.total[aspect])
}

// Print logs a line for each aspect, then every miss.
func (a *Aspects) Print(tb testing.TB) {
	tb.Helper()
	for _, name := range a.names {
		tb.Logf("conformance %s: %s %d/%d", a.what, name, a.passed[name], a.total[name])
	}
	for _, miss := range a.misses {
		tb.Logf("conformance %s: miss %s", a.what, miss)
	}
	var figures []figure
	for _, name := range a.names {
		figures = append(figures, figure{name, a.passed[name], a.total[name]})
	}
	coverage(tb, a.what, figures, a.misses)
}

// Demand fails the test if less than the given share of an aspect agrees.
func (a *Aspects) Demand(tb testing.TB, aspect string, least float64) {
	tb.Helper()
	if share := a.Share(aspect); share < least {
		tb.Errorf("%s: %.1f %% of %s agree; want %.1f %%", a.what, share*100, aspect, least*100)
	}
}
