package sqlstore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// TestNumbers: a store keeps no more schedules and definitions than it may. Those that are there can be put again.
//
// Guarantee (G10): A database has at most 10,000 schedules and 100,000 definitions: one more is refused.
func TestNumbers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, file)
	defer shut(t, s)
	db := raw(t, file)
	for insert, n := range map[string]int{
		`INSERT INTO schedules (id, spec, flow, version, priority, catch_up, paused, created, next, mark)
SELECT 's' || n, '@daily', 'f', 0, 0, 1, 0, 1, 9e15, '' FROM v`: backend.MaxSchedules,
		`INSERT INTO definitions (hash, name, version, language, created, text)
SELECT 'h' || n, 'd', n, 'asl', 1, '' FROM v`: backend.MaxDefinitions,
	} {
		_, err := db.ExecContext(t.Context(),
			`WITH RECURSIVE v (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM v WHERE n < $1) `+insert, n)
		must(t, err)
	}
	begun := time.Now()
	one := backend.Schedule{ID: "s7", Spec: "@hourly", Flow: "f", Next: begun.Add(time.Hour)}
	must(t, s.PutSchedule(t.Context(), one))
	one.ID = "more"
	if err := s.PutSchedule(t.Context(), one); !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), "10000") {
		t.Errorf("one schedule more: %v", err)
	}
	def, err := s.PutDefinition(t.Context(), storage.Definition{Hash: "h7", Name: "d", Language: "asl"})
	if err != nil || def.Version != 7 {
		t.Errorf("a definition that is there: %+v, %v", def, err)
	}
	if _, err := s.PutDefinition(t.Context(), storage.Definition{Hash: "x", Name: "d", Language: "asl"}); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("one definition more: %v", err)
	}
	if _, err := s.Definition(t.Context(), "x"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the definition that was refused: %v", err)
	}
	due, _, next, err := s.DueSchedules(t.Context(), backend.Schedule{}, 100)
	if err != nil || len(due) > 0 || next.IsZero() {
		t.Errorf("due: %d, next at %v, %v", len(due), next, err)
	}
}
