package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

const (
	lockRun   = `SELECT o.id FROM runs r JOIN origins o ON o.n = r.n WHERE o.id = $1 FOR UPDATE OF r`
	lockRunOf = `SELECT o.id FROM tokens t JOIN runs r ON r.n = t.run JOIN origins o ON o.n = r.n WHERE t.id = $1
FOR UPDATE OF r`
	lockRuns = `SELECT o.id FROM runs r JOIN origins o ON o.n = r.n
WHERE r.n = ANY (ARRAY(SELECT n FROM origins
WHERE id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON)))))) ORDER BY r.n FOR UPDATE OF r`
	skipLocked   = ` SKIP LOCKED`
	lockFreeRuns = lockRuns + skipLocked
	// The argument of lockFreeNumbers is an array in PostgreSQL's text form: {1,2}.
	lockFreeNumbers = `SELECT n, fence FROM runs WHERE n = ANY (CAST($1 AS BIGINT[])) ORDER BY n FOR UPDATE` + skipLocked
)

// lockNumbers locks the rows of runs by their numbers. It skips rows that another transaction has locked, and
// returns the fences of the rows that it locked.
func (s *session) lockNumbers(ctx context.Context, runs map[int64]string) (fences map[int64]int64, err error) {
	fences = make(map[int64]int64, len(runs))
	if len(runs) == 0 {
		return fences, nil
	}
	list, err := json.Marshal(slices.Sorted(maps.Keys(runs)))
	if err != nil {
		return nil, err
	}
	var locked []struct{ N, Fence int64 }
	if err := s.All(ctx, &locked, lockFreeNumbers, "{"+string(list[1:len(list)-1])+"}"); err != nil {
		return nil, err
	}
	for _, row := range locked {
		s.held = append(s.held, runs[row.N])
		fences[row.N] = row.Fence
	}
	return fences, nil
}

// lockRuns locks the rows of runs. If free is true, it skips rows that another transaction has locked.
func (s *session) lockRuns(ctx context.Context, runs []string, free bool) error {
	if len(runs) == 0 {
		return nil
	}
	list, err := json.Marshal(runs)
	if err != nil {
		return err
	}
	query := lockRuns
	if free {
		query = lockFreeRuns
	}
	var locked []string
	err = s.All(ctx, &locked, query, string(list))
	s.held = append(s.held, locked...)
	return err
}

// hold locks the row of a run until the end of the transaction, so that no other transaction changes the run
// meanwhile. On SQLite no lock is needed. If the run does not exist, hold returns no error.
func (s *session) hold(ctx context.Context, run string) error {
	if !s.dialect.locks || slices.Contains(s.held, run) {
		return nil
	}
	return s.lock(ctx, lockRun, run)
}

// holdRunOf waits for the row of a token's run, unless the session yields: then the statement that changes the token
// locks the row, see withRun. Every transaction locks a run before its tokens, so that none deadlock.
func (s *session) holdRunOf(ctx context.Context, token string) error {
	if !s.dialect.locks || s.yields {
		return nil
	}
	return s.lock(ctx, lockRunOf, token)
}

// lock locks the row that a query selects, if there is one. A session that yields does not wait: if it does not get the
// row, lock returns errHeld, and the write goes alone.
func (s *session) lock(ctx context.Context, query, arg string) error {
	if s.yields {
		query += skipLocked
	}
	var run string
	err := s.Get(ctx, &run, query, arg)
	switch {
	case err == nil:
		s.held = append(s.held, run)
		return nil
	case !errors.Is(err, storage.ErrNotFound):
		return err
	case s.yields:
		return errHeld
	default:
		return nil
	}
}
