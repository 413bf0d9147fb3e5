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
	gauge("ebb_memory_used_bytes", "Live memory, without garbage.",
		func(m engine.Memory) float64 { return float64(m.Used) })
	gauge("ebb_memory_budget_bytes",
		"The budget of live memory; 0 is none.",
		func(m engine.Memory) float64 { return float64(m.Budget) })
	gauge("ebb_memory_exhausted", "1 while the budget is reached and the process takes up no runs, else 0.",
		func(m engine.Memory) float64 {
			if m.Exhausted {
				return 1
			}
			return 0
		})
}
