package sqlstore

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
)

// TestMigrateCodes finds runs by the codes of their failures after the migration that copies these from the failures,
// for all lengths of the fields before them.
func TestMigrateCodes(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "ebb.db"), "postgres": postgrestest.DSN(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := schema.FileSteps
			if name == "postgres" {
				folder += "/postgres"
				if _, err := Migrate(t.Context(), dsn); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			codes := map[string]string{}
			for i, path := range []int{0, 1, 127, 128, 16383, 16384, atom.MaxFailureText} {
				for j, size := range []int{0, 1, 127, 128, atom.MaxFailureCode} {
					run := storage.Run{ID: fmt.Sprintf("%d-%d", i, j), Flow: "f", State: states.FlowFailure}
					run.Failure = &atom.Failure{Atom: strings.Repeat("a", path), Code: strings.Repeat("é", size/2) + strings.Repeat("x", size%2), Message: "m"}
					codes[run.ID] = run.Failure.Code
					if err := s.Create(t.Context(), run); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := s.Create(t.Context(), storage.Run{ID: "none", Flow: "f"}); err != nil {
				t.Fatal(err)
			}
			step, err := schema.Migrations.ReadFile(folder + "/0017_filters.sql")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"runs_code_created", "runs_code_ended", "runs_undone_created", "runs_undone_ended", "origins_definition_created"} {
				exec(t, s, "DROP INDEX "+name)
			}
			exec(t, s, "ALTER TABLE runs DROP COLUMN code")
			for _, statement := range strings.SplitAfter(strings.TrimSpace(string(step)), ";\n") {
				exec(t, s, statement)
			}
			for id, code := range codes {
				q := storage.RunQuery{Terms: []storage.RunTerm{
					{Of: storage.TextID, Is: []string{id}}, {Of: storage.TextCode, Is: []string{code}, Not: code == ""},
				}}
				if n, err := s.CountRuns(t.Context(), q); err != nil || n != 1 {
					t.Errorf("run %s with a code of %d bytes is found %d times: %v", id, len(code), n, err)
				}
			}
		})
	}
}

// exec makes a change of the schema.
func exec(t *testing.T, s *Store, statement string) {
	t.Helper()
	var err error
	if s.dialect.locks {
		_, err = s.readers.db.ExecContext(t.Context(), statement)
	} else {
		err = s.update(t.Context(), &write{alone: true, do: func(ctx context.Context, w *session) error {
			_, err := w.Exec(ctx, statement)
			return err
		}})
	}
	if err != nil {
		t.Fatalf("%v: %s", err, statement)
	}
}
