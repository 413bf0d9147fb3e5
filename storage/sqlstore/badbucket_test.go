package sqlstore_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// TestBadBucket damages the row that says which runs a limit counts together, while one of them is driven. The limit
// still holds for them, and for no others.
func TestBadBucket(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ebb.db")
	s := open(t, file)
	defer shut(t, s)
	must(t, s.SetLimit(t.Context(), storage.Limit{Flow: "f", Label: "team", Runs: 1}))
	for id, team := range map[string]string{"driven": "red", "same": "red", "other": "blue"} {
		must(t, s.Create(t.Context(), storage.Run{ID: id, Flow: "f", Due: time.Now(), Labels: map[string]string{"team": team, "more": "x"}}))
	}
	if _, _, err := s.Begin(t.Context(), "driven"); err != nil {
		t.Fatal(err)
	}
	_, err := raw(t, file).ExecContext(t.Context(), `UPDATE buckets SET labels = '[' || n`)
	must(t, err)
	if _, _, err := s.Begin(t.Context(), "same"); !errors.Is(err, storage.ErrLimited) {
		t.Errorf("the limit does not hold: %v", err)
	}
	due, _, err := s.Due(t.Context(), backend.DueQuery{By: time.Now(), Limit: 10})
	if err != nil || len(due) != 1 || due[0].Run != "other" {
		t.Errorf("due are %+v, %v", due, err)
	}
	if len(s.Damaged()) != 2 {
		t.Errorf("damaged are %q", s.Damaged())
	}
}
