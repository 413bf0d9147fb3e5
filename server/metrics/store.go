package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A countingStore wraps a store and counts the calls to it.
type countingStore struct {
	*sqlstore.Store

	m *Metrics
}

// Store returns a wrapper of the store that counts calls. The conductor must use it.
func (m *Metrics) Store() storage.Store { return &countingStore{m.store, m} }

// Commit counts commits and refused commits. It does not count the refusal of a first commit, which is expected if
// another process was faster.
func (s *countingStore) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
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

// Release drops the size of a released run.
func (s *countingStore) Release(ctx context.Context, claim backend.Claim, wakeups int64, due time.Time) error {
	s.m.sizes.forget(claim.Run)
	return s.Store.Release(ctx, claim, wakeups, due)
}

// ClaimJobs counts claimed jobs, and claims that found none.
func (s *countingStore) ClaimJobs(ctx context.Context, q backend.JobClaim) ([]storage.Job, error) {
	list, err := s.Store.ClaimJobs(ctx, q)
	switch {
	case err != nil && ctx.Err() != nil: // the process is stopping
	case err != nil:
		s.m.claims.WithLabelValues(errorResult).Inc()
	case len(list) == 0:
		s.m.claims.WithLabelValues(noneResult).Inc()
	default:
		s.m.claims.WithLabelValues(claimedResult).Add(float64(len(list)))
		now := s.Now()
		for i := range list {
			ready := list[i].Created
			if list[i].NotUntil.After(ready) {
				ready = list[i].NotUntil
			}
			s.m.waited.Observe(max(0, now.Sub(ready).Seconds()))
		}
	}
	return list, err
}

// Create counts claims that were lost before the run was created.
func (s *countingStore) Create(ctx context.Context, run storage.Run, checks ...storage.RecordCheck) error {
	err := s.Store.Create(ctx, run, checks...)
	s.claimLost(run.Job != "", err)
	return err
}

// EndJob counts lost claims.
func (s *countingStore) EndJob(ctx context.Context, end backend.JobEnd) error {
	err := s.Store.EndJob(ctx, end)
	s.claimLost(end.ClaimID != "", err)
	return err
}

func (s *countingStore) claimLost(claimed bool, err error) {
	if claimed && errors.Is(err, storage.ErrFenced) {
		s.m.lost.Inc()
	}
}

// sizes contains the number of bytes that each driven run has written.
type sizes struct {
	mu sync.Mutex
	of map[string]int64
}

// put records the number of bytes in a checkpoint's head. It drops a run that was released or lost.
func (s *sizes) put(run string, cp *backend.Checkpoint, err error) {
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
