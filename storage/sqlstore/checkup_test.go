package sqlstore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestExamineServer: notifications of a server that is connected to arrive; through
// something in between that keeps them for itself they do not.
func TestExamineServer(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	c, err := sqlstore.Examine(t.Context(), dsn)
	if err != nil || c.Deaf != nil || !c.Server || !strings.HasPrefix(c.Engine, "PostgreSQL ") || len(c.Schema.Pending) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if off := time.Since(c.Time); off.Abs() > time.Hour {
		t.Errorf("its clock is %v behind", off)
	}
	if err := sqlstore.Hear(t.Context(), postgrestest.Deaf(t, dsn), time.Millisecond); !errors.Is(err, sqlstore.ErrDeaf) {
		t.Errorf("what does not arrive is reported as %v", err)
	}
	for range 100 { // an answer brings notifications that no call waited for
		if err := sqlstore.Hear(t.Context(), dsn, 0); err != nil {
			t.Fatalf("what arrives is reported as %v", err)
		}
	}
	empty, err := sqlstore.Examine(t.Context(), postgrestest.DSN(t))
	if err != nil || empty.Schema.Version != 0 || len(empty.Schema.Pending) == 0 {
		t.Errorf("%+v, %v", empty, err)
	}
}

// TestAfterRestore: a process that claimed something before or after the copy was made
// can write nothing to the restored database, and its claims are free.
//
// Guarantee (Jobs): After a restore and `ebb doctor --after-restore`, earlier claims write nothing.
func TestAfterRestore(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		before := open(t, filepath.Join(dir, "runs.db"))
		defer shut(t, before)
		claims := claimed(t, before)
		copied := filepath.Join(dir, "copy.db")
		if err := sqlstore.Backup(t.Context(), filepath.Join(dir, "runs.db"), copied); err != nil {
			t.Fatal(err)
		}
		restored := open(t, copied)
		defer shut(t, restored)
		afterRestore(t, restored, restored, claims)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		dsn := migrated(t)
		before, restored := openServer(t, dsn), openServer(t, dsn)
		defer shut(t, before)
		defer shut(t, restored)
		afterRestore(t, before, restored, claimed(t, before))
	})
}

// claims are of a run and a job.
type claims struct {
	run backend.Claim
	job storage.Job
}

func claimed(t *testing.T, s *sqlstore.Store) claims {
	t.Helper()
	run := owned(t, s, "a")
	_, err := s.WriteRecords(t.Context(), storage.RecordWrite{Kind: "k", Key: "a"})
	must(t, err)
	if err := s.PostJob(t.Context(), storage.Job{ID: "j", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	list, err := s.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return claims{run, list[0]}
}

func afterRestore(t *testing.T, old, restored *sqlstore.Store, c claims) {
	t.Helper()
	runs, jobs, err := restored.AfterRestore(t.Context())
	if err != nil || runs != 1 || jobs != 1 {
		t.Fatalf("%d runs, %d jobs, %v", runs, jobs, err)
	}
	copied, err := restored.NamedRecord(t.Context(), "k", "a")
	must(t, err)
	lost, err := old.WriteRecords(t.Context(), storage.RecordWrite{Kind: "k", Key: "a", Was: copied.Revision})
	must(t, err)
	was := copied.Revision // the same database: the write was not lost
	if old.Database() == restored.Database() {
		was = lost[0].Revision
	}
	if again, err := restored.WriteRecords(t.Context(), storage.RecordWrite{Kind: "k", Key: "a", Was: was}); err != nil ||
		again[0].Revision <= copied.Revision+1000 {
		t.Errorf("records written after the restore: %+v after %+v, %v", again, copied, err)
	}
	run, err := restored.Run(t.Context(), "a")
	if err != nil || run.Owner != "" || run.Due.IsZero() {
		t.Errorf("the run is %+v (%v)", run, err)
	}
	if err := old.Commit(t.Context(), c.run, &backend.Checkpoint{Head: backend.Head{Seq: run.Seq, State: run.State}}); !errors.Is(err, storage.ErrFenced) {
		t.Errorf("who had the run writes: %v", err)
	}
	park := backend.JobEnd{Job: "j", Epoch: c.job.Epoch, ClaimID: c.job.ClaimID, State: states.JobParked}
	if err := old.EndJob(t.Context(), park); !errors.Is(err, storage.ErrFenced) {
		t.Errorf("who had the job keeps it: %v", err)
	}
	claim, _, err := restored.Begin(t.Context(), "a")
	if err != nil || claim.Fence <= c.run.Fence+1 {
		t.Errorf("taken over with %+v after %+v (%v)", claim, c.run, err)
	}
	list, err := restored.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour})
	if err != nil || len(list) != 1 || list[0].Epoch <= c.job.Epoch+1 {
		t.Errorf("claimed %+v (%v)", list, err)
	}
}

// TestExamineNoFile: of a file that does not exist, Examine tells the engine and the time.
func TestExamineNoFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "runs.db")
	if c, err := sqlstore.Examine(t.Context(), file); err != nil || c.Schema.Version != 0 || c.Engine == "" || c.Server || c.Time.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
}
