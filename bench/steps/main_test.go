package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/postgrestest"
)

// TestComparison shows that both systems still execute all workloads, in a hundredth of the size.
func TestComparison(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { compareAll(t, "") })
	t.Run("PostgreSQL", func(t *testing.T) { compareAll(t, postgrestest.Server(t)) })
}

func compareAll(t *testing.T, dsn string) {
	t.Helper()
	var out bytes.Buffer
	if err := (comparison{dsn: dsn, dir: t.TempDir(), rounds: 1, divisor: 100}).run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "ratio"); lines != len(workloads) {
		t.Errorf("%d workloads have a ratio, of %d:\n%s", lines, len(workloads), &out)
	}
}

// TestUnknownWorkload shows that a wrong name is refused before anything is measured.
func TestUnknownWorkload(t *testing.T) {
	err := comparison{workloads: []string{"lots"}}.run(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), `"lots"; there are many, `) {
		t.Errorf("got %v", err)
	}
}
