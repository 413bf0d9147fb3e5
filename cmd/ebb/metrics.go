package main

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// metrics count what a process does. Nothing is labelled by run.
type metrics struct {
	registry    *prometheus.Registry
	runs        *prometheus.CounterVec
	atoms       *prometheus.HistogramVec
	retries     *prometheus.CounterVec
	claims      *prometheus.CounterVec
	lost        prometheus.Counter
	checkpoints prometheus.Histogram
	fenced      prometheus.Counter
	written     prometheus.Histogram
	sizes       sizes

	mu    sync.Mutex
	names map[string]bool // of atoms, as they are told of
}

func newMetrics(store *sqlstore.Store) *metrics {
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		runs:     count("ebb_runs_total", "Runs that came to rest in a state while this process drove them.", "flow", "state"),
		atoms: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ebb_atom_seconds", Help: "How long attempts of atoms took, by what was done and how they ended.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10), //nolint:mnd // 1 ms to 4 minutes
		}, []string{"flow", "atom", "op", "state"}),
		retries: count("ebb_atom_retries_total", "Attempts of atoms that failed and are made again.", "flow"),
		claims:  count("ebb_claims_total", "Jobs that this process claimed, and looks for some that found none or failed.", "result"),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ebb_claim_lost_total", Help: "Claims of jobs that this process had, and that were another's when it used them.",
		}),
		checkpoints: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ebb_checkpoint_seconds", Help: "How long commits of steps of runs took.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16), //nolint:mnd // 0.1 ms to 3 s
		}),
		fenced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ebb_fenced_writes_total", Help: "Writes that were refused, as the run had another owner by then.",
		}),
		written: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ebb_run_written_bytes", Help: "How many bytes of history and payloads runs had written when they ended.",
			Buckets: prometheus.ExponentialBuckets(1<<10, 8, 9), //nolint:mnd // 1 KiB to 16 GiB
		}),
		names: map[string]bool{},
		sizes: sizes{of: map[string]int64{}},
	}
	for _, result := range []string{claimedResult, noneResult, errorResult} {
		m.claims.WithLabelValues(result)
	}
	of := func(name, help string, n func(sqlstore.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(n(store.Counts())) })
	}
	m.registry.MustRegister(m.runs, m.atoms, m.retries, m.claims, m.lost, m.checkpoints, m.fenced, m.written,
		&boardCollector{store: store}, &suspectCollector{store},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "ebb_largest_run_bytes", Help: "How many bytes the run has written that has written most of those that this process drives.",
		}, m.sizes.largest),
		of("ebb_notify_received_total", "Times that another process told this one that something came.", func(c sqlstore.Counts) int64 { return c.Told }),
		of("ebb_poll_found_total", "Jobs that were claimed without anybody having told of them: many where notifications do not arrive.",
			func(c sqlstore.Counts) int64 { return c.Found }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// The results of looks for jobs.
const (
	claimedResult = "claimed"
	noneResult    = "none"
	errorResult   = "error"
)

// maxNames bounds how many atoms are told apart; the others are told of together.
const maxNames = 500

var repeated = regexp.MustCompile(`\[[^\]]*\]|#\d+`)

// name returns an atom's name without its iterations and visits, of which there may
// be any number.
func (m *metrics) name(path string) string {
	name := repeated.ReplaceAllString(path, "")
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.names[name] {
		if len(m.names) == maxNames {
			return "(other)"
		}
		m.names[name] = true
	}
	return name
}

// A measured store counts what it is asked for.
type measured struct {
	*sqlstore.Store

	m *metrics
}

// Commit counts commits, and those that were refused: not those that would have begun
// something which another process has begun meanwhile, as it may.
func (s *measured) Commit(ctx context.Context, claim storage.Claim, cp *storage.Checkpoint) error {
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
func (s *measured) Release(ctx context.Context, claim storage.Claim, wakeups int64, due time.Time) error {
	s.m.sizes.forget(claim.Run)
	return s.Store.Release(ctx, claim, wakeups, due)
}

// ClaimJobs counts jobs, and looks in vain.
func (s *measured) ClaimJobs(ctx context.Context, q storage.JobClaim) ([]storage.Job, error) {
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
func (s *measured) Create(ctx context.Context, run storage.Run) error {
	err := s.Store.Create(ctx, run)
	s.claimLost(run.Job != "", err)
	return err
}

// RenewJob counts claims that were lost.
func (s *measured) RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error {
	err := s.Store.RenewJob(ctx, id, epoch, claim, lease)
	s.claimLost(true, err)
	return err
}

// EndJob counts claims that were lost.
func (s *measured) EndJob(ctx context.Context, end storage.JobEnd) error {
	err := s.Store.EndJob(ctx, end)
	s.claimLost(end.ClaimID != "", err)
	return err
}

func (s *measured) claimLost(claimed bool, err error) {
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

// maxScrapes is how many may ask for the metrics at once: each answer is large.
const maxScrapes = 10

func (m *metrics) handler() http.Handler {
	// What cannot be counted while the database does not answer keeps nothing else back.
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes})
}

// observe counts what an engine tells of.
func (m *metrics) observe(ev engine.Event) {
	switch {
	case ev.Kind == engine.FlowChanged && rests(ev.To):
		m.runs.WithLabelValues(ev.Flow, ev.To).Inc()
	case ev.Kind != engine.AtomChanged || ev.Inner || ev.Timer:
	case ev.To == states.TaskRetrying.String():
		m.retries.WithLabelValues(ev.Flow).Inc()
	default:
		if op := operation(ev.To); op != "" {
			m.atoms.WithLabelValues(ev.Flow, m.name(ev.Path), op, ev.To).Observe(ev.Duration.Seconds())
		}
	}
}

func rests(state string) bool {
	return slices.Contains(restStates, state)
}

// operation returns what an atom has ended that is in that state now.
func operation(state string) string {
	switch state {
	case states.TaskSuccess.String(), states.TaskFailure.String():
		return "execute"
	case states.TaskReverted.String(), states.TaskRevertFailure.String():
		return "revert"
	default:
		return ""
	}
}

// boardCollector tells how many jobs there are when it is asked.
type boardCollector struct {
	store storage.Store

	mu     sync.Mutex
	again  time.Time // not counted before
	counts []storage.JobCount
	err    error
}

// countShare bounds what counting jobs, of which there may be any number, takes of the
// database: one part in so many of the time, however often is asked.
const countShare = 20

var (
	jobsDesc   = prometheus.NewDesc("ebb_jobs", "Jobs on the board that have not ended.", []string{"state"}, nil)
	oldestDesc = prometheus.NewDesc("ebb_oldest_unclaimed_seconds", "For how long the oldest job has been there to be claimed.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (c *boardCollector) Describe(to chan<- *prometheus.Desc) {
	to <- jobsDesc
	to <- oldestDesc
}

// Collect implements [prometheus.Collector].
func (c *boardCollector) Collect(to chan<- prometheus.Metric) {
	counts, err := c.count()
	if err != nil {
		to <- prometheus.NewInvalidMetric(jobsDesc, err)
		return
	}
	jobs, oldest := map[states.Job]int{}, time.Duration(0)
	for _, count := range counts {
		jobs[count.State] = count.Jobs
		if count.State == states.JobUnclaimed {
			oldest = max(0, time.Since(count.Since))
		}
	}
	for _, state := range []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked} {
		to <- prometheus.MustNewConstMetric(jobsDesc, prometheus.GaugeValue, float64(jobs[state]), state.String())
	}
	to <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, oldest.Seconds())
}

// count counts the jobs, or returns what was counted lately.
func (c *boardCollector) count() ([]storage.JobCount, error) {
	const patience = 5 * time.Second
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if began.Before(c.again) {
		return c.counts, c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.counts, c.err = c.store.JobCounts(ctx)
	c.again = time.Now().Add((countShare - 1) * time.Since(began))
	return c.counts, c.err
}
