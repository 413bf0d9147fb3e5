package runfilter_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// made are runs of many kinds.
func made() (runs []storage.Run) {
	for i := range 100 {
		r := storage.Run{
			ID: fmt.Sprintf("r%03d", i), Flow: []string{"trip", "tour", "leg"}[i%3], Labels: map[string]string{"n": fmt.Sprint(i % 4)},
			Created: noon.Add(-time.Duration(i*i%97) * time.Hour), Definition: []string{"", "abc", "abd"}[i%7%3],
		}
		if i%5 == 0 {
			r.Parent = "r000"
		}
		if r.State = states.Flow(i % 8); i%8 == 6 && i%3 == 0 {
			r.Failure = &atom.Failure{Code: "Ebb.Killed"}
		}
		if r.State.Ended() {
			r.Ended, r.Outcome = r.Created.Add(time.Duration(i%50)*time.Hour), storage.Succeeded
			if r.State != states.FlowSuccess {
				r.Outcome, r.Undo = storage.Outcome(2+i%3), storage.Undone(i%4)
				r.Failure = &atom.Failure{Code: []string{"Broken", "Boom"}[i%2]}
			}
		}
		runs = append(runs, r)
	}
	return runs
}

// fill creates the runs, and returns them as the store has them.
func fill(t *testing.T, s backend.Store) []storage.Run {
	t.Helper()
	for _, r := range made() {
		if err := s.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Runs(t.Context(), storage.RunQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFind compares what random filters find, page by page and in small steps, with what they match, on every store.
func TestFind(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s backend.Store) {
		all := fill(t, s)
		least := 1
		if _, inMemory := s.(*memstore.Store); !inMemory { // a page costs milliseconds
			least = len(all) / 2
		}
		rapid.Check(t, func(rt *rapid.T) { finds(t.Context(), rt, s, all, least) })
	})
}

// eachStore calls f with an empty store of each kind.
func eachStore(t *testing.T, f func(*testing.T, backend.Store)) {
	t.Helper()
	open := func(t *testing.T, dsn string) backend.Store {
		t.Helper()
		s, err := sqlstore.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	for name, store := range map[string]func(*testing.T) backend.Store{
		"memory": func(*testing.T) backend.Store { return memstore.New() },
		"SQLite": func(t *testing.T) backend.Store { t.Helper(); return open(t, "sqlite:"+t.TempDir()+"/runs.db") },
		"PostgreSQL": func(t *testing.T) backend.Store {
			t.Helper()
			dsn := postgrestest.DSN(t)
			if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
				t.Fatal(err)
			}
			return open(t, dsn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, store(t))
		})
	}
}

func finds(ctx context.Context, rt *rapid.T, store backend.Store, all []storage.Run, least int) {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(strings.Fields(`
		state:FAILURE state:failure,running -state:SUCCESS state:SUSPENDED -state:PENDING,RESUMING flow:trip -flow:tour flow:t*
		flow:leg,trip outcome:failed -outcome:succeeded,unfinished undo:failed undo:none,partly -undo:failed is:top is:open
		is:ended is:person -is:person is:top,person is:open,ended -is:top,ended -is:open -created:>20h undo:undone,partly code:Broken,B* id:r0*,r042 -id:r0*
		label:x=1,n=1 -label:n -parent:* parent:r* definition:abc,abd definition:abc -undo:none label:n=1 label:n=1,n=2 -label:n=3 label:n label:none label:n=* parent:r000
		-parent:r000 parent:* definition:ab* -definition:abc code:Broken code:B* -code:* id:r00* r01 id:r042 created:<48h
		created:>20h created:2026-11-24..2026-11-26 -created:<12h ended:<24h ended:>48h -ended:<24h ended:<1h,>70h
		ended:2026-11-25..2026-11-26 ended:..2026-11-25T12:00:00Z`)), 0, 3).Draw(rt, "terms"), " ")
	f, err := runfilter.Parse(text)
	if err != nil {
		rt.Fatal(err)
	}
	want := slices.DeleteFunc(slices.Clone(all), func(run storage.Run) bool { return !f.Matches(&run, noon) })
	byEnd := strings.HasPrefix(text, "ended") || strings.Contains(text, " ended")
	slices.SortFunc(want, func(a, b storage.Run) int {
		if byEnd && !a.Ended.Equal(b.Ended) {
			return b.Ended.Compare(a.Ended)
		}
		if !byEnd && !a.Created.Equal(b.Created) {
			return b.Created.Compare(a.Created)
		}
		return cmp.Compare(b.Number, a.Number)
	})
	s := runfilter.Search{
		Filter: f, Now: noon, Limit: rapid.IntRange(min(least, 20), 40).Draw(rt, "limit"), Read: rapid.IntRange(least, least+60).Draw(rt, "read"),
	}
	counts(ctx, rt, store, s, want)
	groups(ctx, rt, store, s, want)
	var got []storage.Run
	for pages := 0; ; pages++ {
		page, err := runfilter.Find(ctx, store, s)
		if err != nil || len(page.Runs) > s.Limit || pages > len(all) {
			rt.Fatalf("%q, page %d: %d runs, %v", text, pages, len(page.Runs), err)
		}
		got = append(got, page.Runs...)
		if s.Cursor = runfilter.ParseCursor(page.Next.String()); s.Cursor != page.Next {
			rt.Fatalf("the cursor %s is read as %s", page.Next, s.Cursor)
		}
		if s.Cursor == (runfilter.Cursor{}) {
			break
		}
	}
	if !slices.EqualFunc(got, want, func(a, b storage.Run) bool { return a.ID == b.ID }) {
		rt.Fatalf("%q finds %v, want %v", text, ids(got), ids(want))
	}
}

// counts compares what Count counts, looking at all runs in small steps, with what the filter selects.
func counts(ctx context.Context, rt *rapid.T, store backend.Store, s runfilter.Search, want []storage.Run) {
	s.Read = 0
	width := rapid.SampledFrom([]time.Duration{0, time.Hour, 7 * 24 * time.Hour}).Draw(rt, "width")
	most := rapid.SampledFrom([]int{2, runfilter.MaxBars}).Draw(rt, "bars")
	got, err := runfilter.Count(ctx, store, s, width, most)
	byState, bySpan := map[states.Flow]int{}, map[time.Time]map[states.Flow]int{}
	for i := range want {
		byState[want[i].State]++
		at := want[i].Created
		if strings.Contains(" "+s.Filter.String(), " ended:") {
			at = want[i].Ended
		}
		if width > 0 {
			at = time.UnixMicro(at.UnixMicro() - at.UnixMicro()%width.Microseconds()).UTC()
		}
		if bySpan[at] == nil {
			bySpan[at] = map[states.Flow]int{}
		}
		bySpan[at][want[i].State]++
	}
	if err != nil || got.More || !maps.Equal(got.States, byState) {
		rt.Fatalf("%s: counted %v (%v), want %v", s.Filter, got, err, byState)
	}
	if width == 0 {
		return
	}
	last := noon
	for _, span := range got.Bars {
		if last = span.From; !maps.Equal(span.States, bySpan[span.From]) {
			rt.Fatalf("%s: the bar at %v has %v, want %v", s.Filter, span.From, span.States, bySpan[span.From])
		}
		delete(bySpan, span.From)
	}
	for at := range bySpan { // only earlier ones are left out
		if most == runfilter.MaxBars || len(got.Bars) > 0 && !at.Before(got.Bars[0].From) {
			rt.Fatalf("%s: the bars are %v up to %v, without %v", s.Filter, got.Bars, last, at)
		}
	}
}

// groups compares the groups that CountBy counts in small steps with what the filter of each group selects.
func groups(ctx context.Context, rt *rapid.T, store backend.Store, s runfilter.Search, want []storage.Run) {
	by, err := runfilter.ParseBy(rapid.SampledFrom([]string{
		"code", "flow,label:x", "state,label:n", "code,flow,undo,parent,definition",
	}).Draw(rt, "by"))
	if err != nil {
		rt.Fatal(err)
	}
	var got runfilter.Groups
	for more := true; more; more = s.Cursor != (runfilter.Cursor{}) {
		if got, err = runfilter.CountBy(ctx, store, s, by, &got); err != nil {
			rt.Fatal(err)
		}
		s.Cursor = got.Next
	}
	total := 0
	for _, g := range got.Groups {
		f, err := runfilter.Parse(g.Filter)
		if err != nil {
			rt.Fatalf("%s: %v", g.Filter, err)
		}
		matching := slices.DeleteFunc(slices.Clone(want), func(run storage.Run) bool { return !f.Matches(&run, noon) })
		if len(matching) != g.Runs || matching[0].ID != g.Newest {
			rt.Fatalf("%d runs are %v, newest %s, and %s selects %v", g.Runs, g.Values, g.Newest, g.Filter, ids(matching))
		}
		total += g.Runs
	}
	if total != len(want) || got.Total() != total {
		rt.Fatalf("%s: %d runs are in groups, of %d", s.Filter, total, len(want))
	}
}

func ids(runs []storage.Run) (ids []string) {
	for i := range runs {
		ids = append(ids, runs[i].ID)
	}
	return ids
}

// TestWords finds each run by the words with which ebb list describes it.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, run := range made() {
		shown := inspect.RunOf(&run)
		text := "state:" + shown.State + " outcome:" + shown.Outcome + " undo:" + shown.Undo
		if f, err := runfilter.Parse(text); err != nil || !f.Matches(&run, noon) {
			t.Errorf("%s does not match %s: %v", text, run.ID, err)
		}
	}
}

// TestForgedCursor reads a forged cursor as the beginning.
func TestForgedCursor(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	fill(t, s)
	for _, text := range []string{"", "x", "c", "c1", "c.", "c1.x", "c9223372036854775808.1", "e1.1.1", "e5.5", "\x00"} {
		page, err := runfilter.Find(t.Context(), s, runfilter.Search{Cursor: runfilter.ParseCursor(text), Now: noon, Limit: 5})
		if err != nil || len(page.Runs) != 5 {
			t.Errorf("%q: %d runs, %v", text, len(page.Runs), err)
		}
	}
}

// TestGroupsAreBounded: beyond the bound, the runs of further groups are counted as one, and fields that do not exist
// are refused.
func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	for i := range runfilter.MaxGroups + 20 {
		if err := s.Create(t.Context(), storage.Run{ID: fmt.Sprint(i), Flow: fmt.Sprint("f", i/2), Created: noon}); err != nil {
			t.Fatal(err)
		}
		run := storage.Run{ID: fmt.Sprint("x", i), Flow: fmt.Sprint("x", i), Created: noon}
		if err := s.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	by, err := runfilter.ParseBy("flow")
	if err != nil {
		t.Fatal(err)
	}
	search := runfilter.Search{Now: noon}
	got, err := runfilter.CountBy(t.Context(), s, search, by, nil)
	if search.Cursor = got.Next; err == nil { // it looked at as many runs as it may
		got, err = runfilter.CountBy(t.Context(), s, search, by, &got)
	}
	const all = 2 * (runfilter.MaxGroups + 20)
	if err != nil || len(got.Groups) != runfilter.MaxGroups || got.Total() != all || got.Others == 0 || got.Groups[0].Runs != 2 {
		t.Errorf("%d groups of %d runs, %d others (%v)", len(got.Groups), got.Total(), got.Others, err)
	}
	for _, text := range []string{"", "flow,", "flows", "label:", "flow,flow", "code,flow,state,undo,outcome,parent"} {
		if _, err := runfilter.ParseBy(text); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%q is read: %v", text, err)
		}
	}
}
