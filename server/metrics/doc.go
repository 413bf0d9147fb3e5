// Package metrics counts what a process does with runs and jobs, and serves that to Prometheus. It is a module of its
// own, so that only programs that use it link Prometheus.
//
//	m := metrics.New(store)
//	c, err := conductor.New(m.Store(), catalog, conductor.WithEngine(engine.WithObserver(m.Observe)))
//	mux.Handle("/metrics", m.Handler())
package metrics
