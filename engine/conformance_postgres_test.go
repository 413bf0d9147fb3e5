package engine_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestConformancePostgres plays some of the recorded cases of TaskFlow, with their
// interrupts, on a PostgreSQL: each process opens the store anew, and those that die
// leave it as it was.
func TestConformancePostgres(t *testing.T) {
	t.Parallel()
	one := 25 // of so many cases
	if testing.Short() {
		one = 100
	}
	dsn := postgrestest.DSN(t)
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	open := func() storage.Store {
		s, err := sqlstore.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	records := open()
	defer func() {
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, file := range conformance.TaskFlowFiles(t) {
		tally := conformance.NewTaskFlowTally(file, "postgres")
		for i, rec := range conformance.TaskFlow(t, file) {
			if i%one != 0 || !measures(rec, tally) {
				continue
			}
			p := newPlayer(t, rec, serial, each)
			p.records, p.join = records, open
			tally.Add(rec, rec.Compare(p.play()))
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		tally.Print(t)
	}
}
