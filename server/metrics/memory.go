package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/engine"
)

// WatchMemory adds metrics of the memory that the process uses. Pass the Memory method of a conductor.
func (m *Metrics) WatchMemory(memory func() engine.Memory) {
	gauge := func(name, help string, n func(engine.Memory) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return n(memory()) }))
	}
	gauge("ebb_memory_used_bytes", "How much memory is in use, without garbage.",
		func(m engine.Memory) float64 { return float64(m.Used) })
	gauge("ebb_memory_budget_bytes",
		"How much memory may be in use before the process takes up no more runs; 0 means no limit.",
		func(m engine.Memory) float64 { return float64(m.Budget) })
	gauge("ebb_memory_exhausted", "1 while the memory budget is reached and the process takes up no runs, else 0.",
		func(m engine.Memory) float64 {
			if m.Exhausted {
				return 1
			}
			return 0
		})
}
