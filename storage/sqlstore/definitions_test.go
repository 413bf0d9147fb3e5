package sqlstore

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// TestDefinitionPlans checks SQLite's plan to find the definitions of one flow, also for a claim of jobs. It reads only
// those of that flow.
func TestDefinitionPlans(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "ebb.db"))
	named, _ := listDefinitions(&backend.DefinitionQuery{Name: "f", Version: 1, Limit: 1})
	after, _ := listDefinitions(&backend.DefinitionQuery{Name: "f", After: &storage.Definition{Name: "f", Version: 9}})
	for _, query := range []string{
		named, after, selectDefinition, insertDefinition, claimFirst[onSQLite], selectClaimable[onSQLite], selectClaimableElse[onSQLite],
	} {
		var plan []struct {
			ID, Parent, Notused int
			Detail              string
		}
		args := make([]any, 0, 9)
		for strings.Contains(query, fmt.Sprint("$", len(args)+1)) {
			args = append(args, 1)
		}
		if err := s.view(t.Context(), func(r *session) error { return r.Once(t.Context(), &plan, "EXPLAIN QUERY PLAN "+query, args...) }); err != nil {
			t.Fatalf("%v: %s", err, query)
		}
		text := fmt.Sprint(plan)
		if strings.Contains(text, "SCAN definitions") || strings.Contains(text, "SCAN d ") || strings.Contains(text, "TEMP B-TREE") ||
			!strings.Contains(text, "SEARCH d") {
			t.Errorf("%s\n%s", query, text)
		}
	}
}
