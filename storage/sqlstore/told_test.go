package sqlstore_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestToldAndFound: if notifications arrive, jobs count as told. If they do not, jobs are found nevertheless, and
// counted as found.
func TestToldAndFound(t *testing.T) {
	t.Parallel()
	dsn := migrated(t)
	poster, hears := openServer(t, dsn), openServer(t, dsn)
	deaf := openServer(t, postgrestest.Deaf(t, dsn))
	defer func() {
		for _, s := range []*sqlstore.Store{poster, hears, deaf} {
			shut(t, s)
		}
	}()
	if err := poster.PostJob(t.Context(), storage.Job{ID: "j", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	soon(t, "word of the job", func() bool { return hears.Counts().Told > 0 })
	list, err := deaf.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if c := deaf.Counts(); c.Told != 0 || c.Found != 1 {
		t.Errorf("who hears nothing was told %d times, and found %d jobs", c.Told, c.Found)
	}
	if err := hears.PostJob(t.Context(), storage.Job{ID: "k", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	if list, err := hears.ClaimJobs(t.Context(), backend.JobClaim{Lease: time.Hour}); err != nil || len(list) != 1 || hears.Counts().Found != 0 {
		t.Errorf("what it has posted itself it has found %d times (%+v, %v)", hears.Counts().Found, list, err)
	}
}
