package sqlstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestOpenJobsIndexed: an index counts and lists jobs that have not ended, and another one finds the claims of a
// process, for any number of ended jobs.
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

// TestNilLogger: no logger is taken for one, and no file is created.
func TestNilLogger(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ebb.db")
	if _, err := sqlstore.Open(t.Context(), file, sqlstore.Log(nil)); err == nil || !strings.Contains(err.Error(), "the logger is nil") {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}
