package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/engine"
)

// A Server is what [Metrics.Watch] asks: a conductor, or an [engine.Server].
type Server interface {
	Memory() engine.Memory // memory that the process uses
	Slots() int            // how many runs it drives at the same time
	Driving() int          // how many runs it drives now
}

// Watch adds metrics of the slots of a server, and of the memory of its process.
func (m *Metrics) Watch(server Server) {
	m.number("ebb_slots", "How many runs this process drives at the same time.",
		func() float64 { return float64(server.Slots()) })
	m.number("ebb_slots_used", "Slots in use: runs that this process drives, without those that they drive themselves.",
		func() float64 { return float64(server.Driving()) })
	gauge := func(name, help string, n func(engine.Memory) float64) {
		m.number(name, help, func() float64 { return n(server.Memory()) })
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

// number adds a metric that is one number.
func (m *Metrics) number(name, help string, n func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, n))
}
