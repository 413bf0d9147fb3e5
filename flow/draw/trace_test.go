package draw_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/flow/draw"
)

func traces() map[string]draw.Trace {
	chain := draw.Trace{Title: `run "r" of long: FAILURE`, Roots: []string{"s99"}}
	group := draw.Trace{
		Title: `run "r" of group: FAILURE`, Roots: []string{"all"},
		Steps: []draw.TraceStep{{ID: "all", State: "FAILURE"}},
	}
	for i := range 100 {
		s := draw.TraceStep{ID: fmt.Sprint("s", i), State: "SUCCESS"}
		group.Steps[0].Before = append(group.Steps[0].Before, s.ID)
		group.Steps = append(group.Steps, s)
		s.Before = []string{fmt.Sprint("s", i-1)}
		chain.Steps = append(chain.Steps, s)
	}
	return map[string]draw.Trace{
		"booking": {
			Title: `run "trip-1" of trip: REVERTED`,
			Roots: []string{"pay", "notify"},
			Steps: []draw.TraceStep{
				{
					ID: "pay", State: "REVERTED", Note: "attempt 3", Why: []string{"Card.Declined: no money\non the card"},
					In:     []draw.TraceValue{{Name: "card", Text: `"***"`}, {Name: "amount", Text: "120"}},
					Before: []string{"hotel", "flight", "hotel", "car"},
				},
				{ID: "hotel", State: "REVERTED", Out: `{"booking":"h-1"}`, Before: []string{"search"}},
				{
					ID: "flight", State: "REVERT_FAILURE", Why: []string{"could not be undone: Error: busy"},
					Before: []string{"search"},
				},
				{ID: "search", State: "SUCCESS", Note: "took 2s", In: []draw.TraceValue{{Text: `"Oslo"`}}, Out: `"` +
					strings.Repeat("x", 500) + `"`, Before: []string{"begin"}},
				{ID: "begin", State: "SUCCESS"},
				{
					ID: "notify", State: "FAILURE", Why: []string{"Panic: panic: boom"},
					Stack: "goroutine 7 [running]:\nmain.notify()\n\t/src/notify.go:7 +0x1d\n",
				},
			},
		},
		"no step": {Title: `run "r" of f: FAILURE`, Why: "Timeout: the run took longer than 1h"},
		"chain":   chain,
		"group":   group,
		"circle": {Title: `run "r" of f: FAILURE`, Roots: []string{"a"}, Steps: []draw.TraceStep{
			{ID: "a", State: "FAILURE", Before: []string{"b"}}, {ID: "b", State: "SUCCESS", Before: []string{"a"}},
		}},
	}
}

// TestExplain compares failure trees with golden files.
func TestExplain(t *testing.T) {
	t.Parallel()
	for name, trace := range traces() {
		golden(t, filepath.Join("testdata", "trace-"+strings.ReplaceAll(name, " ", "-")+".txt"), draw.Explain(trace))
	}
}

// TestExplainAnything: for any trace, the text ends, has a bounded number of lines, and contains nothing that moves a
// cursor.
func TestExplainAnything(t *testing.T) {
	t.Parallel()
	id := rapid.SampledFrom([]string{"", "a", "b", "c", "d\x1b[2J", "e\n"})
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "\n\n", "a\nb", "\x1b[31m", strings.Repeat("long\n", 100)}),
		rapid.String())
	ids := rapid.SliceOfN(id, 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		trace := draw.Trace{Title: text.Draw(t, "title"), Why: text.Draw(t, "why"), Roots: ids.Draw(t, "roots")}
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			trace.Steps = append(trace.Steps, draw.TraceStep{
				ID: id.Draw(t, "id"), State: text.Draw(t, "state"), Note: text.Draw(t, "note"), Why: []string{text.Draw(t, "why")},
				Stack: text.Draw(t, "stack"), Out: text.Draw(t, "out"), Before: ids.Draw(t, "before"),
				In: []draw.TraceValue{{text.Draw(t, "name"), text.Draw(t, "value")}},
			})
		}
		got := draw.Explain(trace)
		if n := strings.Count(got, "\n"); n > 20+40*len(trace.Steps) {
			t.Errorf("%d lines", n)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
			t.Errorf("%q is in it", got[i:i+1])
		}
	})
}
