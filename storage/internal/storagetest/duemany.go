package storagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// testRaceManyDue lets two stores take over the same runs at once. One store gets each run, and the other one an error.
func testRaceManyDue(t *testing.T, m Maker) {
	s := m.open(t)
	stores := []backend.Store{s, m.join(t, s)}
	const all = 50
	for i := range all {
		create(t, s, dueRun(fmt.Sprint("run", i), at(1)))
	}
	for round := range 3 {
		var pens []*pen
		for _, store := range stores {
			found := claimDue(t, store)
			if len(found) != all {
				t.Fatalf("round %d: %d runs are due, want %d", round, len(found), all)
			}
			pens = append(pens, found...)
		}
		errs := make([]error, len(pens))
		race(len(pens), func(i int) {
			head := backend.Head{Release: round%2 == 0, Due: at(1)} // otherwise they stay with the faster store
			errs[i] = pens[i].commit(t.Context(),
				pens[i].next(backend.Checkpoint{Head: head, History: []storage.Entry{{Path: "x"}}}))
		})
		won := map[string]int{}
		for i, err := range errs {
			if err == nil {
				won[pens[i].claim.Run]++
				if got := load(t, s, pens[i].claim.Run); got.ClaimID != pens[i].claim.ID || got.Seq != int64(round)+1 {
					t.Errorf("round %d: run %s is at %d under the claim %s, want %s", round, got.ID, got.Seq, got.ClaimID,
						pens[i].claim.ID)
				}
				if round%2 != 0 {
					must(t, "Release", pens[i].store.Release(t.Context(), pens[i].claim, 0, at(1)))
				}
				continue
			}
			want(t, "Commit", err, storage.ErrFenced)
		}
		for run, n := range won {
			if n != 1 {
				t.Errorf("round %d: run %s was begun %d times", round, run, n)
			}
		}
		if len(won) != all {
			t.Errorf("round %d: %d runs were begun, want %d", round, len(won), all)
		}
	}
}

// claimDue loads all due runs.
func claimDue(t *testing.T, s backend.Store) (pens []*pen) {
	t.Helper()
	due, _, err := s.Due(t.Context(), backend.DueQuery{By: time.Now()})
	must(t, "Due", err)
	for i := range due {
		snap := due[i].Snapshot
		pens = append(pens, &pen{store: s, claim: due[i].Claim, snap: snap, head: headOf(&snap.Run)})
	}
	return pens
}
