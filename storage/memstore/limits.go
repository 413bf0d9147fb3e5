package memstore

import (
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// SetLimit implements [backend.Limiter.SetLimit].
func (m *store) SetLimit(ctx context.Context, limit storage.Limit) error {
	if err := backend.CheckLimit(&limit); err != nil {
		return err
	}
	if err := m.enterChange(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	limits := rules.WithLimit(m.limits, limit)
	if err := rules.CheckLimits(len(limits)); err != nil {
		return err
	}
	m.limits = limits
	m.notify()
	m.changed(ctx)
	return nil
}

// Limits implements [backend.Limiter.Limits].
func (m *store) Limits(ctx context.Context) ([]storage.Limit, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return slices.Clone(m.limits), nil
}

// limiterState returns the state of the limits: the driven runs, and the runs in soon, which the caller will drive.
func (m *memory) limiterState(soon []string) *rules.LimiterState {
	t := rules.NewLimiterState(m.limits)
	if len(m.limits) == 0 {
		return t
	}
	for _, r := range m.order {
		if r.head.Owner != "" || slices.Contains(soon, r.head.ID) {
			t.Take(r.bucket(), 1)
		}
	}
	return t
}

func (r *runRecord) bucket() *rules.Bucket { return bucketOf(&r.head) }

func bucketOf(r *storage.Run) *rules.Bucket { return &rules.Bucket{Flow: r.Flow, Labels: r.Labels} }

// full returns the limit that does not allow the run to be driven; nil if every limit allows it.
func (m *memory) full(r *storage.Run) *storage.LimitedError {
	if len(m.limits) == 0 {
		return nil
	}
	return m.limiterState(nil).Full(r.ID, bucketOf(r))
}

// Limited implements [backend.Limiter.Limited].
func (m *store) Limited(ctx context.Context, run string) (*storage.LimitedError, error) {
	return of(ctx, m, run, func(r *runRecord) (*storage.LimitedError, error) {
		if r.head.Owner != "" {
			return nil, nil
		}
		return m.full(&r.head), nil
	})
}

// ratedClaim is a claim of a job that a rate counts.
type ratedClaim struct {
	at time.Time
	by rules.Metered
}

// meter returns the recent claims as rates count them; nil if there are no rates.
func (m *memory) meter(now time.Time) *rules.Meter {
	meter := rules.NewMeter(m.limits)
	if meter == nil {
		m.rated = nil
		return nil
	}
	m.rated = slices.DeleteFunc(m.rated, func(c ratedClaim) bool {
		i := slices.IndexFunc(m.limits, func(l storage.Limit) bool {
			return l.Flow == c.by.Rate.Flow &&
				l.Label == c.by.Rate.Label
		})
		return i < 0 || !c.at.After(now.Add(-m.limits[i].Per))
	})
	for _, c := range m.rated {
		meter.Spend(c.by.Rate.Flow, c.by.Rate.Label, c.by.Value, 1)
	}
	return meter
}

// Rated implements [backend.Limiter.Rated].
func (m *store) Rated(ctx context.Context, job *storage.Job) (*storage.LimitedError, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return m.meter(time.Now()).Next(job, func(by *rules.Metered) (spent []rules.Spent, _ error) {
		for _, c := range m.rated { // in the order of their times
			if c.by.Rate.Flow == by.Rate.Flow && c.by.Rate.Label == by.Rate.Label && c.by.Value == by.Value {
				spent = append(spent, rules.Spent{At: c.at, Jobs: 1})
			}
		}
		return spent, nil
	})
}

// spent stores the claims that rates count.
func (m *memory) spent(now time.Time, by []rules.Metered) {
	for _, one := range by {
		m.rated = append(m.rated, ratedClaim{now, one})
	}
}
