package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

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
