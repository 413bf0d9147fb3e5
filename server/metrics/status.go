package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/internal/gauge"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A statusCollector reports the state of the database when a client asks for the metrics.
type statusCollector struct {
	read   func(context.Context) (*sqlstore.Status, error)
	deaths func() int64

	mu    sync.Mutex
	again time.Time // when the status may be read next
	last  *sqlstore.Status
	err   error
}

// countShare bounds the time that the status takes of the database, which may have any number of runs and jobs: one
// part in this many, no matter how often clients ask.
const countShare = 20

// deaths describes what this process has counted.
var deaths = prometheus.NewDesc("ebb_process_deaths_total", "Processes that this one found dead.", nil, nil)

// describe returns the description of a gauge.
func describe(g *gauge.Gauge) *prometheus.Desc {
	return prometheus.NewDesc(g.Name, g.Help, g.Labels, nil)
}

// Describe implements [prometheus.Collector].
func (c *statusCollector) Describe(to chan<- *prometheus.Desc) {
	to <- deaths
	for _, g := range gauge.All() {
		to <- describe(&g)
	}
}

// Collect implements [prometheus.Collector].
func (c *statusCollector) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(deaths, prometheus.CounterValue, float64(c.deaths()))
	st, err := c.status()
	if err != nil {
		to <- prometheus.NewInvalidMetric(describe(&gauge.All()[0]), err)
		return
	}
	for _, g := range gauge.All() {
		for _, v := range g.Values(st) {
			to <- prometheus.MustNewConstMetric(describe(&g), prometheus.GaugeValue, v.Number, v.Labels...)
		}
	}
}

// status reads the status, or returns what was read lately.
func (c *statusCollector) status() (*sqlstore.Status, error) {
	const patience = 5 * time.Second
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if began.Before(c.again) {
		return c.last, c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.last, c.err = c.read(ctx)
	c.again = time.Now().Add((countShare - 1) * time.Since(began))
	return c.last, c.err
}
