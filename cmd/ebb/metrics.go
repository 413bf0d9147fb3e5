package main

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// metrics count what a process does. Nothing is labelled by run.
type metrics struct {
	registry *prometheus.Registry
	runs     *prometheus.CounterVec
	atoms    *prometheus.HistogramVec
	retries  *prometheus.CounterVec
}

func newMetrics(store storage.Store) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ebb_runs_total", Help: "Runs that came to rest in a state while this process drove them.",
		}, []string{"flow", "state"}),
		atoms: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ebb_atom_seconds", Help: "How long attempts of atoms took, by what was done and how they ended.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10), //nolint:mnd // 1 ms to 4 minutes
		}, []string{"flow", "op", "state"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ebb_atom_retries_total", Help: "Attempts of atoms that failed and are made again.",
		}, []string{"flow"}),
	}
	m.registry.MustRegister(m.runs, m.atoms, m.retries, &boardCollector{store},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// observe counts what an engine tells of.
func (m *metrics) observe(ev engine.Event) {
	switch {
	case ev.Kind == engine.FlowChanged && rests(ev.To):
		m.runs.WithLabelValues(ev.Flow, ev.To).Inc()
	case ev.Kind != engine.AtomChanged || ev.Inner || ev.Timer:
	case ev.To == states.TaskRetrying.String():
		m.retries.WithLabelValues(ev.Flow).Inc()
	default:
		if op := operation(ev.To); op != "" {
			m.atoms.WithLabelValues(ev.Flow, op, ev.To).Observe(ev.Duration.Seconds())
		}
	}
}

func rests(state string) bool {
	return slices.Contains(restStates, state)
}

// operation returns what an atom has ended that is in that state now.
func operation(state string) string {
	switch state {
	case states.TaskSuccess.String(), states.TaskFailure.String():
		return "execute"
	case states.TaskReverted.String(), states.TaskRevertFailure.String():
		return "revert"
	default:
		return ""
	}
}

// boardCollector tells how many jobs there are when it is asked.
type boardCollector struct{ store storage.Store }

var (
	jobsDesc   = prometheus.NewDesc("ebb_jobs", "Jobs on the board that have not ended.", []string{"state"}, nil)
	oldestDesc = prometheus.NewDesc("ebb_oldest_unclaimed_seconds", "How long the oldest job that may be claimed has waited.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (c *boardCollector) Describe(to chan<- *prometheus.Desc) {
	to <- jobsDesc
	to <- oldestDesc
}

// Collect implements [prometheus.Collector].
func (c *boardCollector) Collect(to chan<- prometheus.Metric) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	open := []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked}
	list, err := c.store.JobList(ctx, storage.JobQuery{States: open})
	if err != nil {
		to <- prometheus.NewInvalidMetric(jobsDesc, err)
		return
	}
	counts, oldest := map[states.Job]int{}, time.Duration(0)
	for i := range list {
		counts[list[i].State]++
		if list[i].State == states.JobUnclaimed {
			oldest = max(oldest, time.Since(list[i].Created))
		}
	}
	for _, state := range open {
		to <- prometheus.MustNewConstMetric(jobsDesc, prometheus.GaugeValue, float64(counts[state]), state.String())
	}
	to <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, oldest.Seconds())
}
