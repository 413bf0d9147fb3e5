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
		var id, parent, unused int
		var plan string // its first step, which is how the table is read
		err := db.QueryRow("EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...).Scan(&id, &parent, &unused, &plan)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan, "INDEX "+index) {
			t.Errorf("%s\nis done by %q, want %s", query, plan, index)
		}
	}
}
