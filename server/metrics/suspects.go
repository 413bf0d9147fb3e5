package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/storage/sqlstore"
)

// suspectCollector tells which runs may be why processes died when it is asked. An index
// has them, however many other runs there are.
type suspectCollector struct{ store *sqlstore.Store }

var (
	deathsDesc   = prometheus.NewDesc("ebb_process_deaths_total", "Processes that this one has found dead.", nil, nil)
	suspectsDesc = prometheus.NewDesc("ebb_suspect_runs", "Runs with which processes died more than once within an hour.", []string{"trial"}, nil)
)

// Describe implements [prometheus.Collector].
func (c *suspectCollector) Describe(to chan<- *prometheus.Desc) {
	to <- deathsDesc
	to <- suspectsDesc
}

// Collect implements [prometheus.Collector].
func (c *suspectCollector) Collect(to chan<- prometheus.Metric) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	to <- prometheus.MustNewConstMetric(deathsDesc, prometheus.CounterValue, float64(c.store.Deaths()))
	suspects, tried, err := c.store.Suspected(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(suspectsDesc, err)
		return
	}
	to <- prometheus.MustNewConstMetric(suspectsDesc, prometheus.GaugeValue, float64(tried), "yes")
	to <- prometheus.MustNewConstMetric(suspectsDesc, prometheus.GaugeValue, float64(suspects-tried), "no")
}
