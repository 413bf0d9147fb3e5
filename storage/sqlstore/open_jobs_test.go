package sqlstore_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenJobsIndexed: jobs that have not ended are counted and listed by an index, and
// claims of a process found by another, however many jobs have ended.
func TestOpenJobsIndexed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	shut(t, open(t, file))
	db := raw(t, file)
	for query, index := range map[string]string{
		`SELECT state, count(*), min(created) FROM jobs WHERE state <> 2 GROUP BY state ORDER BY state`: "jobs_open",
		`SELECT n FROM jobs WHERE state IN (?, ?) AND state <> 2 ORDER BY priority DESC, n LIMIT ?`:     "jobs_open",
		`UPDATE jobs SET lease = 0 WHERE owner = ? AND state = 1 AND lease > 0`:                         "jobs_leased",
	} {
		rows, err := db.Query("EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(plan, "\n"), "INDEX "+index) {
			t.Errorf("%s\nis done by %q, want %s", query, plan, index)
		}
	}
}
