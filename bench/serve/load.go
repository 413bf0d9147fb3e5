package main

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// A sample holds the measurements of a load.
type sample struct {
	count   int
	took    []time.Duration // in order
	elapsed time.Duration
	calls   float64 // requests for each one counted

	commits, rows, bytes float64 // of the server
	cpu                  float64 // of the server, in processors
}

func (m *sample) rate() float64 { return float64(m.count) / m.elapsed.Seconds() }

// add adds the measurements of another turn of the same load.
func (m *sample) add(turn *sample) {
	both := m.elapsed + turn.elapsed
	m.cpu = (m.cpu*m.elapsed.Seconds() + turn.cpu*turn.elapsed.Seconds()) / both.Seconds()
	m.elapsed = both
	m.count += turn.count
	m.commits += turn.commits
	m.rows += turn.rows
	m.bytes += turn.bytes
	m.took = slices.Concat(m.took, turn.took)
	slices.Sort(m.took)
}

// at returns a quantile.
func (m *sample) at(quantile float64) time.Duration {
	if len(m.took) == 0 {
		return 0
	}
	return m.took[min(int(float64(len(m.took))*quantile), len(m.took)-1)]
}

// errEnd ends a client of a load before its time is over.
var errEnd = errors.New("enough")

// load lets clients do something again and again for the bench's time, and measures how long each takes.
func (s *server) load(ctx context.Context, clients int, do func(ctx context.Context, client, n int) error) (
	*sample, error,
) {
	return s.loadFor(ctx, s.time, clients, do)
}

// loadInTurns applies two loads in turns, so that both have the same database and the same other work on the machine.
func (s *server) loadInTurns(ctx context.Context, clients int, one, other func(ctx context.Context, client, n int) error) (
	ofOne, ofOther *sample, err error,
) {
	const turns = 8
	ofOne, ofOther = &sample{calls: 1}, &sample{calls: 1}
	for range turns {
		for _, turn := range []struct {
			of *sample
			do func(ctx context.Context, client, n int) error
		}{{ofOne, one}, {ofOther, other}} {
			m, err := s.loadFor(ctx, s.time/turns, clients, turn.do)
			if err != nil {
				return nil, nil, err
			}
			turn.of.add(m)
		}
	}
	return ofOne, ofOther, nil
}

// loadFor is load for another time than the bench's.
func (s *server) loadFor(ctx context.Context, d time.Duration, clients int, do func(context.Context, int, int) error) (
	*sample, error,
) {
	return s.measured(ctx, func(ctx context.Context, m *sample) error {
		until := time.Now().Add(d)
		var group errgroup.Group
		all := make([][]time.Duration, clients)
		var failed atomic.Bool
		for client := range clients {
			group.Go(func() error {
				for n := 0; time.Now().Before(until) && !failed.Load(); n++ {
					began := time.Now()
					err := do(ctx, client, n)
					if errors.Is(err, errEnd) {
						return nil
					}
					if err != nil {
						failed.Store(true)
						return err
					}
					all[client] = append(all[client], time.Since(began))
				}
				return nil
			})
		}
		err := group.Wait()
		m.took = slices.Concat(all...)
		m.count = len(m.took)
		return err
	})
}

// measured completes a sample with what the server did for it.
func (s *server) measured(ctx context.Context, do func(context.Context, *sample) error) (*sample, error) {
	m := &sample{calls: 1}
	before, err := s.metrics(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := do(ctx, m); err != nil {
		return nil, err
	}
	m.elapsed = time.Since(began)
	after, err := s.metrics(ctx)
	if err != nil {
		return nil, err
	}
	of := func(name string) float64 { return after[name] - before[name] }
	m.commits, m.rows, m.bytes = of("ebb_commits_total"), of("ebb_commit_rows_total"), of("ebb_commit_bytes_total")
	m.cpu = of("process_cpu_seconds_total") / m.elapsed.Seconds()
	slices.Sort(m.took)
	return m, nil
}

// pause waits for a time, or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
