package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/engine"
)

// WatchMemory adds how much memory is in use, as a conductor knows it.
func (m *Metrics) WatchMemory(memory func() engine.Memory) {
	gauge := func(name, help string, n func(engine.Memory) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return n(memory()) }))
	}
	gauge("ebb_memory_used_bytes", "How much memory is in use, without garbage.", func(m engine.Memory) float64 { return float64(m.Used) })
	gauge("ebb_memory_budget_bytes", "How much memory may be in use before nothing more is taken up; 0 is any.",
		func(m engine.Memory) float64 { return float64(m.Budget) })
	gauge("ebb_memory_exhausted", "1 while the memory budget is reached and nothing more is taken up, else 0.", func(m engine.Memory) float64 {
		if m.Exhausted {
			return 1
		}
		return 0
	})
}
