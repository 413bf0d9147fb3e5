package sqlstore

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// The death of an owner frees its runs. The store counts the death in their rows, see [storage.CrashLoop]. A row
// whose trial is odd is isolated.
const (
	selectDeaths = `SELECT count(*) AS runs, coalesce(sum(CASE WHEN trial % 2 = 1 THEN 1 ELSE 0 END), 0) AS tried
		FROM runs WHERE owner = $1 AND owner <> ''`
	// blameRuns counts the death in the isolated rows, or in all rows of the owner if none is isolated. Its arguments
	// are the current time, the time since which deaths count, the proof, the process, its owner, and the number of
	// isolated runs.
	blameRuns = `UPDATE runs SET owner = '', due = $1, died = $1, died_by = $4,
  lost = CASE WHEN died > $2 THEN lost + 1 WHEN trial % 2 = 1 THEN 2 ELSE 1 END,
  proof = CASE WHEN died > $2 THEN proof ELSE 0 END + CASE WHEN trial % 2 = 1 THEN CAST($3 AS BIGINT) ELSE 0 END,
  trial = CASE WHEN trial % 2 = 1 THEN 2 WHEN died > $2 THEN trial ELSE 0 END
WHERE owner = $5 AND owner <> '' AND (trial % 2 = 1 OR CAST($6 AS BIGINT) = 0)`
	proveNothing = `UPDATE runs SET proof = 0 WHERE lost > 1 AND proof > 0`
	// takeBack removes the death of an owner that turns out to be alive.
	takeBack = `UPDATE runs SET lost = lost - 1, proof = 0, trial = trial % 2, died_by = NULL WHERE lost > 1
		AND died_by = $1`

	endIsolationOf = `UPDATE runs SET trial = 0, proof = 0 WHERE n = $1 AND fence = $2 AND claim = $3 AND owner <> ''`
	absolveRun     = `UPDATE runs SET lost = 0, trial = 0, proof = 0, died = NULL, died_by = NULL WHERE n = $1`
	endIsolation   = `trial = trial - trial % 2`

	selectProcess = `SELECT id, host, pid FROM owners WHERE id = $1`
)

// evict frees the runs and jobs of a dead owner and counts its death. It keeps the owner's row.
func (s *store) evict(ctx context.Context, w *session, id string) error {
	known, err := each[ownerRow](ctx, w, selectProcess, id)
	if err != nil {
		return err
	}
	process := append(known, ownerRow{})[0]
	var found struct{ Runs, Tried int64 }
	if err := w.Get(ctx, &found, selectDeaths, id); err != nil {
		return err
	}
	proves := int64(0)
	switch {
	case found.Tried == 1 && found.Runs == 1:
		proves = backend.ProofAlone
	case found.Tried == 1:
		proves = backend.ProofBeside
	}
	now := w.dialect.Now()
	by := codec.EncodeProcess(storage.Process{Owner: id, Host: process.Host, PID: process.PID})
	if _, err := w.Exec(ctx, blameRuns, micros(now), micros(now.Add(-backend.LostWindow)), proves, by, id,
		found.Tried); err != nil {
		return err
	}
	if found.Tried == 0 { // the process died while none of the blamed runs was isolated
		if _, err := w.Exec(ctx, proveNothing); err != nil {
			return err
		}
	}
	if found.Runs > 0 {
		s.log.Warn(logevent.Takeover, logevent.Attributes("owner", id, "pid", process.PID, "host", process.Host, "runs",
			found.Runs)...)
	}
	s.deaths.Add(1)
	return free(ctx, w, id)
}

// Deaths implements [backend.CrashLoops.Deaths].
func (s *store) Deaths() int64 { return s.deaths.Load() }

// BeginIsolated implements [backend.CrashLoops.BeginIsolated].
func (s *store) BeginIsolated(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	return s.takeOver(ctx, run, true, storage.Isolated)
}

// EndIsolation implements [backend.CrashLoops.EndIsolation].
func (s *store) EndIsolation(ctx context.Context, claim backend.Claim) error {
	return s.update(ctx, &write{runs: []string{claim.Run}, do: func(ctx context.Context, w *session) error {
		if err := w.hold(ctx, claim.Run); err != nil {
			return err
		}
		n, err := numberOf(ctx, w, claim.Run)
		if err != nil {
			return err
		}
		done, err := w.Exec(ctx, endIsolationOf, n, claim.Fence, claim.ID)
		if err == nil && done == 0 {
			err = fmt.Errorf("%w: run %q", storage.ErrFenced, claim.Run)
		}
		return err
	}})
}

// selectCrashLoopCount reads the index of runs with more than one counted death.
const selectCrashLoopCount = `SELECT count(*) AS runs,
  coalesce(sum(CASE WHEN trial % 2 = 1 THEN 1 ELSE 0 END), 0) AS tried
FROM runs WHERE lost > 1 AND died > $1 AND ended IS NULL`

// countCrashLoops returns the number of runs in a crash loop, see [backend.MayKillProcesses], and how many of them are
// isolated.
func (s *store) countCrashLoops(ctx context.Context) (looping, tried int64, err error) {
	var found struct{ Runs, Tried int64 }
	err = s.glance(ctx, func(r *session) error {
		return r.Get(ctx, &found, selectCrashLoopCount, micros(s.Now().Add(-backend.LostWindow)))
	})
	return found.Runs, found.Tried, err
}
