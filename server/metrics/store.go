package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A Store wraps a store and counts the calls to it.
type Store struct {
	*sqlstore.Store

	m *Metrics
}

// Store returns the store that a conductor must use so that the metrics count its calls.
func (m *Metrics) Store() *Store { return &Store{m.store, m} }

// Commit counts commits, and those that were refused: not those that would have begun
// something which another process has begun meanwhile, as it may.
func (s *Store) Commit(ctx context.Context, claim storage.Claim, cp *storage.Checkpoint) error {
	began := time.Now()
	err := s.Store.Commit(ctx, claim, cp)
	s.m.sizes.put(claim.Run, cp, err)
	if err == nil && cp.Head.State.Ended() && cp.Head.Release {
		s.m.written.Observe(float64(cp.Head.Bytes))
	}
	switch {
	case err == nil:
		s.m.checkpoints.Observe(time.Since(began).Seconds())
	case claim.Makes(cp):
		s.claimLost(claim.New.Job != "", err)
	case errors.Is(err, storage.ErrFenced) && !claim.BeginsWith(cp):
		s.m.fenced.Inc()
	}
	return err
}

// Release forgets what a released run has written.
func (s *Store) Release(ctx context.Context, claim storage.Claim, wakeups int64, due time.Time) error {
	s.m.sizes.forget(claim.Run)
	return s.Store.Release(ctx, claim, wakeups, due)
}

// ClaimJobs counts jobs, and looks in vain.
func (s *Store) ClaimJobs(ctx context.Context, q storage.JobClaim) ([]storage.Job, error) {
	list, err := s.Store.ClaimJobs(ctx, q)
	switch {
	case err != nil && ctx.Err() != nil: // it is to stop
	case err != nil:
		s.m.claims.WithLabelValues(errorResult).Inc()
	case len(list) == 0:
		s.m.claims.WithLabelValues(noneResult).Inc()
	default:
		s.m.claims.WithLabelValues(claimedResult).Add(float64(len(list)))
	}
	return list, err
}

// Create counts runs of jobs that were another's by then.
func (s *Store) Create(ctx context.Context, run storage.Run) error {
	err := s.Store.Create(ctx, run)
	s.claimLost(run.Job != "", err)
	return err
}

// RenewJob counts claims that were lost.
func (s *Store) RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error {
	err := s.Store.RenewJob(ctx, id, epoch, claim, lease)
	s.claimLost(true, err)
	return err
}

// EndJob counts claims that were lost.
func (s *Store) EndJob(ctx context.Context, end storage.JobEnd) error {
	err := s.Store.EndJob(ctx, end)
	s.claimLost(end.ClaimID != "", err)
	return err
}

func (s *Store) claimLost(claimed bool, err error) {
	if claimed && errors.Is(err, storage.ErrFenced) {
		s.m.lost.Inc()
	}
}

// sizes are how much those runs have written that this process drives.
type sizes struct {
	mu sync.Mutex
	of map[string]int64
}

// put notes what a run has written with a checkpoint. A run that was released, or
// lost, is forgotten.
func (s *sizes) put(run string, cp *storage.Checkpoint, err error) {
	if err != nil || cp.Head.Release {
		s.forget(run)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[run] = cp.Head.Bytes
}

func (s *sizes) forget(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, run)
}

func (s *sizes) largest() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := int64(0)
	for _, n := range s.of {
		most = max(most, n)
	}
	return float64(most)
}
