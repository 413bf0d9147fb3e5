package enginebench

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A meter measures what happens between begin and end.
type meter struct {
	target   *target
	lanes    []*lane
	from, to reading
}

// A reading has the values of all counters at one moment.
type reading struct {
	at     time.Time
	steps  int64
	counts sqlstore.Counts
	cpu    time.Duration
	size   Figure
	peak   Figure
}

func newMeter(t *target) *meter { return &meter{target: t} }

// A lane is a sequence of runs, of which one runs at a time.
type lane struct {
	mu    sync.Mutex
	steps int64
	last  time.Time // time of the last step; zero before the first step of a run
	keeps bool      // whether gaps between steps are recorded
	gaps  []time.Duration
}

// lane adds a lane.
func (m *meter) lane() *lane {
	l := &lane{}
	m.lanes = append(m.lanes, l)
	return l
}

// step counts a step.
func (l *lane) step() int64 {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keeps && !l.last.IsZero() {
		l.gaps = append(l.gaps, now.Sub(l.last))
	}
	l.last = now
	l.steps++
	return l.steps
}

// next starts another run.
func (l *lane) next() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Time{}
}

// begin starts the measurement.
func (m *meter) begin(ctx context.Context) error {
	runtime.GC()
	resetPeak()
	for _, l := range m.lanes {
		l.mu.Lock()
		l.keeps = true
		l.mu.Unlock()
	}
	return m.read(ctx, &m.from)
}

// end ends the measurement.
func (m *meter) end(ctx context.Context) error { return m.read(ctx, &m.to) }

func (m *meter) read(ctx context.Context, r *reading) (err error) {
	if r.size, err = m.target.size(ctx); err != nil {
		return err
	}
	r.at, r.cpu, r.peak = time.Now(), cpuTime(), peakRSS()
	if m.target.counts != nil {
		r.counts = m.target.counts()
	}
	r.steps = m.steps()
	return nil
}

// steps returns the number of steps so far.
func (m *meter) steps() (n int64) {
	for _, l := range m.lanes {
		l.mu.Lock()
		n += l.steps
		l.mu.Unlock()
	}
	return n
}

// paced reports whether a gap between two steps was measured.
func (m *meter) paced() bool {
	for _, l := range m.lanes {
		l.mu.Lock()
		gaps := len(l.gaps)
		l.mu.Unlock()
		if gaps > 0 {
			return true
		}
	}
	return false
}

// result returns the figures of a workload.
func (m *meter) result(workload string) Result {
	steps := m.to.steps - m.from.steps
	per := func(total Figure) Figure { return total / Figure(steps) }
	r := Result{
		Workload: workload, Steps: steps,
		StepsPerS:   Figure(float64(steps) / m.to.at.Sub(m.from.at).Seconds()),
		CeilingPerS: unknown, Ratio: unknown, CeilingCPU: unknown,
		RowsPerStep: unknown, FsyncsPerStep: unknown, StepsPerTx: unknown,
		BytesPerStep: per(m.to.size - m.from.size),
		CPUPerStep:   per(Figure((m.to.cpu - m.from.cpu).Microseconds())),
		PeakRSS:      m.to.peak,
	}
	r.P50, r.P99 = m.quantiles()
	if m.target.counts != nil {
		r.RowsPerStep = per(Figure(m.to.counts.Rows - m.from.counts.Rows))
		r.FsyncsPerStep = per(Figure(m.to.counts.Syncs - m.from.counts.Syncs))
		r.StepsPerTx = Figure(steps) / Figure(m.to.counts.Commits-m.from.counts.Commits)
	}
	return r
}

// rowSize returns the average size of a written row in bytes.
func (m *meter) rowSize() int64 {
	from, to := &m.from.counts, &m.to.counts
	return max((to.Bytes-from.Bytes)/max(to.Rows-from.Rows, 1), 1)
}

// quantiles returns the median and the 99th percentile of the gaps between two steps of a run.
func (m *meter) quantiles() (p50, p99 Figure) {
	var gaps []time.Duration
	for _, l := range m.lanes {
		l.mu.Lock()
		gaps = append(gaps, l.gaps...)
		l.mu.Unlock()
	}
	if len(gaps) == 0 {
		return unknown, unknown
	}
	slices.Sort(gaps)
	at := func(part int) Figure { return Figure(gaps[len(gaps)*part/100].Nanoseconds()) / 1000 }
	return at(50), at(99)
}
