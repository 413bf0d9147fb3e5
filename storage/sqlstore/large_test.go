package sqlstore_test

import (
	"path/filepath"
	"testing"
)

// TestLargeRows: tables with columns that may be large have row ids, except those whose rows are bounded. In a table
// WITHOUT ROWID, a search reads all of each row that it compares.
func TestLargeRows(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	shut(t, open(t, file))
	var tables string
	if err := raw(t, file).QueryRowContext(t.Context(), `SELECT group_concat(name, ' ' ORDER BY name) FROM sqlite_master
WHERE type = 'table' AND sql LIKE '%WITHOUT ROWID%' AND sql LIKE '%BLOB%'`).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	// Records of atoms leave values above backend.InlineLimit out. Most rows of history fit into a quarter of a page.
	if want := "atoms history settled"; tables != want {
		t.Errorf("tables WITHOUT ROWID that have BLOBs: %s, want %s", tables, want)
	}
}
