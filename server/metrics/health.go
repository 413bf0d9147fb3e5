package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A healthCollector reports the state of the database as this process finds it, without asking it.
type healthCollector struct{ read func() sqlstore.Health }

var (
	up = prometheus.NewDesc("ebb_store_up",
		"1 while the database answers this process and takes its writes, else 0.", nil, nil)
	faults = prometheus.NewDesc("ebb_store_faults_total",
		"Calls of this process that failed because the database cannot be reached, or takes no writes, by fault.",
		[]string{"fault"}, nil)
)

// Describe implements [prometheus.Collector].
func (healthCollector) Describe(to chan<- *prometheus.Desc) { to <- up; to <- faults }

// Collect implements [prometheus.Collector].
func (c healthCollector) Collect(to chan<- prometheus.Metric) {
	h, value := c.read(), 0.0
	if h.Fault == "" {
		value = 1
	}
	to <- prometheus.MustNewConstMetric(up, prometheus.GaugeValue, value)
	for fault, n := range h.Met {
		to <- prometheus.MustNewConstMetric(faults, prometheus.CounterValue, float64(n), fault)
	}
}
