package sqlstore

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// listsServed are queries of runs, with the index that serves each.
func listsServed() map[string][]storage.RunQuery {
	when := time.UnixMicro(7)
	label, place := map[string]string{"machine": "m"}, &storage.Run{Created: when, Ended: when, Number: 7}
	served := map[string][]storage.RunQuery{}
	add := func(index string, q storage.RunQuery) {
		q.Limit = 100
		for _, after := range []*storage.Run{nil, place} {
			for _, reverse := range []bool{false, true} {
				q.After, q.Reverse = after, reverse
				served[index+"_created"] = append(served[index+"_created"], q)
				q.CreatedFrom, q.CreatedTo = when.Add(-time.Hour), when.Add(time.Hour)
				served[index+"_created"] = append(served[index+"_created"], q)
				q.CreatedFrom, q.CreatedTo = time.Time{}, time.Time{}
				q.Order = storage.ByEnded
				served[index+"_ended"] = append(served[index+"_ended"], q)
				q.EndedFrom, q.EndedTo = when.Add(-time.Hour), when.Add(time.Hour)
				served[index+"_ended"] = append(served[index+"_ended"], q)
				q.EndedFrom, q.EndedTo, q.Order = time.Time{}, time.Time{}, storage.ByCreated
			}
		}
	}
	running := []states.Flow{states.FlowRunning}
	add("runs", storage.RunQuery{})
	add("runs", storage.RunQuery{States: running, Top: true})
	add("runs_flow", storage.RunQuery{Flow: "f"})
	add("runs_flow", storage.RunQuery{Flow: "f", Outcomes: []storage.Outcome{storage.Succeeded}})
	add("labels", storage.RunQuery{Labels: label})
	add("labels", storage.RunQuery{Labels: label, States: running, Flow: "f"})
	add("labels", storage.RunQuery{Parent: "p"})
	return served
}

// explain returns how a store runs a query.
func explain(t *testing.T, s *store, query string, args []any) (plan []string) {
	t.Helper()
	err := s.view(t.Context(), func(r *session) error {
		if r.dialect.locks {
			return r.Once(t.Context(), &plan, "EXPLAIN "+query, args...)
		}
		var rows []struct {
			ID, Parent, Notused int
			Detail              string
		}
		err := r.Once(t.Context(), &rows, "EXPLAIN QUERY PLAN "+query, args...)
		for _, row := range rows {
			plan = append(plan, row.Detail)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	return plan
}

// TestListPlans: each list reads only its index, from the place where it continues, and sorts only what it merges.
//
// Guarantee (G9): a page of a list: one stretch of an index for each class of runs; a page of events: no earlier
// events.
// Also: `TestPlans`, `TestStore/Events`.
func TestListPlans(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "ebb.db"), "postgres": postgrestest.DSN(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &fileDialect
			if name == "postgres" {
				d = &serverDialect
				if _, err := Migrate(t.Context(), dsn); err != nil {
					t.Fatal(err)
				}
			}
			s, err := openStore(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			for index, queries := range listsServed() {
				for _, q := range queries {
					l, find, args := listingOf(&q, d, choice{}, nil)
					l.classes = []class{2, 34}
					plan := explain(t, s, l.page(), l.args)
					if wrong := wrongWithList(d, plan, index, 2, bounds(&q)); wrong != "" {
						t.Errorf("%s, of %+v:\n%s", wrong, q, strings.Join(plan, "\n"))
					}
					times := 2
					if d.locks { // it does not explain the step of a recursion
						times = 1
					}
					plan = explain(t, s, find, args)
					if wrong := wrongWithList(d, plan, strings.ReplaceAll(index, "_ended", "_created"), times, 0); wrong != "" {
						t.Errorf("%s, of %s:\n%s", wrong, find, strings.Join(plan, "\n"))
					}
				}
			}
		})
	}
}

// bounds returns how many bounds on the time the list seeks.
func bounds(q *storage.RunQuery) int {
	switch {
	case !q.CreatedFrom.IsZero() || !q.EndedFrom.IsZero():
		return 2 // the place replaces one of them
	case q.After != nil:
		return 1
	default:
		return 0
	}
}

// wrongWithList returns the fault in the plan of a list, or "". The plan must seek its index a given number of times,
// by class and by a given number of bounds on the time.
func wrongWithList(d *dialect, plan []string, index string, times, bounds int) string {
	sought := 0
	for i, line := range plan {
		if d.locks {
			if wrong := wrongWith(line, plan[i+1:]); wrong != "" {
				return wrong
			}
			if strings.Contains(line, " using "+index+" ") && i+1 < len(plan) && strings.Contains(plan[i+1], "Index Cond: ") &&
				strings.Contains(plan[i+1], "(class ") && strings.Count(plan[i+1], "bigint) AND")+strings.Count(plan[i+1], "bigint))") >= bounds {
				sought++
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "SEARCH") && strings.Contains(line, " INDEX "+index+" (") && strings.Contains(line, "class") &&
			strings.Count(line, "<?")+strings.Count(line, ">?")+strings.Count(line, "<(?")+strings.Count(line, ">(?") >= bounds:
			sought++
		case strings.HasPrefix(line, "SCAN ") && !slices.Contains([]string{"page", "part0", "part1", "present", "CONSTANT"}, strings.Fields(line)[1]):
			return "a table is read from end to end"
		case strings.HasPrefix(line, "USE TEMP B-TREE") && !strings.HasPrefix(plan[i-1], "SCAN part"):
			return "all is sorted"
		}
	}
	if sought != times {
		return "the index " + index + " is not sought once for each class"
	}
	return ""
}
