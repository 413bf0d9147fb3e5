// Package metrics counts the work of a process on runs and jobs, and serves the metrics to Prometheus. It is a
// separate module, so that only programs that use it link the Prometheus client.
//
//	m := metrics.New(store)
//	board := jobs.New(m.Store(), jobs.Policy{})
//	c, err := conductor.New(board, catalog, engine.WithEngine(engine.WithObserver(m.Observe)))
//	mux.Handle("/metrics", m.Handler())
package metrics
