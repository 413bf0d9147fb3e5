package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
)

// The death of an owner frees its runs, and is counted in their rows as
// [storage.Suspicion] says. A row whose trial is odd is on trial.
const (
	selectDeaths = `SELECT count(*) AS runs, coalesce(sum(CASE WHEN trial % 2 = 1 THEN 1 ELSE 0 END), 0) AS tried FROM runs WHERE owner = ? AND owner <> ''`
	// blameRuns counts the death in the rows on trial, or in all if none is: now, since when
	// deaths count, what is proved, which process found the death, the owner, how many are on trial.
	blameRuns = `UPDATE runs SET owner = '', due = ?1, died = ?1, died_by = ?4,
  lost = CASE WHEN died > ?2 THEN lost + 1 WHEN trial % 2 = 1 THEN 2 ELSE 1 END,
  proof = CASE WHEN died > ?2 THEN proof ELSE 0 END + CASE WHEN trial % 2 = 1 THEN CAST(?3 AS BIGINT) ELSE 0 END,
  trial = CASE WHEN trial % 2 = 1 THEN 2 WHEN died > ?2 THEN trial ELSE 0 END
WHERE owner = ?5 AND owner <> '' AND (trial % 2 = 1 OR CAST(?6 AS BIGINT) = 0)`
	proveNothing = `UPDATE runs SET proof = 0 WHERE lost > 1 AND proof > 0`
	// takeBack takes back the death of an owner that lives.
	takeBack = `UPDATE runs SET lost = lost - 1, proof = 0, trial = trial % 2, died_by = NULL WHERE lost > 1 AND died_by = ?`

	acquitRun  = `UPDATE runs SET trial = 0, proof = 0 WHERE n = ? AND fence = ? AND claim = ? AND owner <> ''`
	absolveRun = `UPDATE runs SET lost = 0, trial = 0, proof = 0, died = NULL, died_by = NULL WHERE n = ?`
	endTrial   = `trial = trial - trial % 2`

	selectProcess = `SELECT id, host, pid FROM owners WHERE id = ?`
)

// evict frees what a dead owner had, and counts its death. Its row is still there.
func (s *Store) evict(ctx context.Context, w *session, id string) error {
	var process struct {
		ID, Host string
		PID      int
	}
	err := w.get(ctx, &process, selectProcess, id)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	var found struct{ Runs, Tried int64 }
	if err := w.get(ctx, &found, selectDeaths, id); err != nil {
		return err
	}
	proves := int64(0)
	switch {
	case found.Tried == 1 && found.Runs == 1:
		proves = storage.ProofAlone
	case found.Tried == 1:
		proves = storage.ProofBeside
	}
	now := time.Now()
	by := codec.EncodeProcess(storage.Process{Owner: id, Host: process.Host, PID: process.PID})
	if _, err := w.exec(ctx, blameRuns, micros(now), micros(now.Add(-storage.LostWindow)), proves, by, id, found.Tried); err != nil {
		return err
	}
	if found.Tried == 0 { // the process died without the runs that were accused until now
		if _, err := w.exec(ctx, proveNothing); err != nil {
			return err
		}
	}
	s.deaths.Add(1)
	return free(ctx, w, id)
}

// Deaths returns how many owners this store has found dead.
func (s *Store) Deaths() int64 { return s.deaths.Load() }

// Try takes the run over and puts it on trial.
func (s *Store) Try(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
	return s.takeOver(ctx, run, true, storage.OnTrial)
}

// Acquit ends the trial of a run.
func (s *Store) Acquit(ctx context.Context, claim storage.Claim) error {
	return s.update(ctx, &write{runs: []string{claim.Run}, do: func(ctx context.Context, w *session) error {
		if err := w.hold(ctx, claim.Run); err != nil {
			return err
		}
		n, err := numberOf(ctx, w, claim.Run)
		if err != nil {
			return err
		}
		done, err := w.exec(ctx, acquitRun, n, claim.Fence, claim.ID)
		if err == nil && done == 0 {
			err = fmt.Errorf("%w: run %q", storage.ErrFenced, claim.Run)
		}
		return err
	}})
}
