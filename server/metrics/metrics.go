package metrics

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// Metrics counts the work of a process. No metric has the run as a label.
type Metrics struct {
	store       *sqlstore.Store
	registry    *prometheus.Registry
	runs        *prometheus.CounterVec
	atoms       *prometheus.HistogramVec
	retries     *prometheus.CounterVec
	claims      *prometheus.CounterVec
	lost        prometheus.Counter
	checkpoints prometheus.Histogram
	fenced      prometheus.Counter
	written     prometheus.Histogram
	failures    *prometheus.CounterVec
	waited      prometheus.Histogram
	sizes       sizes

	flows namesSoFar // of runs
	steps namesSoFar // of atoms, after the name of their flow
	codes namesSoFar // of failures, after the name of their flow
}

// New returns metrics of a process that uses the store.
func New(store *sqlstore.Store) *Metrics {
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		store:    store,
		registry: prometheus.NewRegistry(),
		runs: count("ebb_runs_total", "Runs that came to rest in this process.", "flow",
			"state"),
		atoms: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ebb_atom_seconds",
			Help: "Duration of attempts, by op (execute or revert) and how they ended. At most 500 flows, and 1,000 of " +
				"their atoms without iterations and visits, have names of their own; the others are (other).",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10), //nolint:mnd // 1 ms to 4 minutes
		}, []string{"flow", "atom", "op", "state"}),
		retries: count("ebb_atom_retries_total", "Failed attempts that are repeated.", "flow"),
		claims: count("ebb_claims_total",
			"Jobs that this process claimed, and searches that found none or ended with an error.",
			"result"),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ebb_claim_lost_total",
			Help: "Claims that another process had when this one used them.",
		}),
		checkpoints: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ebb_checkpoint_seconds", Help: "Duration of commits of steps.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16), //nolint:mnd // 0.1 ms to 3 s
		}),
		fenced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ebb_fenced_writes_total", Help: "Writes refused because the run had another owner.",
		}),
		written: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ebb_run_written_bytes", Help: "Bytes of history and payloads that runs had written when they ended.",
			Buckets: prometheus.ExponentialBuckets(1<<10, 8, 9), //nolint:mnd // 1 KiB to 16 GiB
		}),
		failures: count("ebb_run_failures_total",
			"Runs that ended with a failure in this process, by its code. At most 500 codes have names of their own.",
			"flow", "code"),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ebb_job_wait_seconds",
			Help:    "How long jobs had been ready to be claimed, as since they were posted, when this process claimed them.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 10), //nolint:mnd // 10 ms to 44 minutes
		}),
		flows: namesSoFar{most: maxFlows},
		steps: namesSoFar{most: maxAtoms},
		codes: namesSoFar{most: maxCodes},
		sizes: sizes{of: map[string]int64{}},
	}
	for _, result := range []string{claimedResult, noneResult, errorResult} {
		m.claims.WithLabelValues(result)
	}
	of := func(name, help string, n func(sqlstore.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(n(store.Counts())) })
	}
	m.registry.MustRegister(m.runs, m.atoms, m.retries, m.claims, m.lost, m.checkpoints, m.fenced, m.written,
		m.failures, m.waited,
		&statusCollector{read: store.Status, deaths: func() int64 { return store.Deaths() }}, healthCollector{store.Health},
		buildInfo(),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "ebb_largest_run_bytes",
			Help: "Bytes of history and payloads that the largest run driven by this process has written.",
		}, m.sizes.largest),
		of("ebb_notify_received_total", "Notifications from other processes.",
			func(c sqlstore.Counts) int64 { return c.Told }),
		of("ebb_commits_total", "Transactions of this process that changed rows.",
			func(c sqlstore.Counts) int64 { return c.Commits }),
		of("ebb_commit_writes_total",
			"Writes in the transactions of ebb_commits_total; their quotient is the size of a group commit.",
			func(c sqlstore.Counts) int64 { return c.Writes }),
		of("ebb_commit_rows_total",
			"Rows that the transactions of ebb_commits_total inserted, updated or deleted, without indexes.",
			func(c sqlstore.Counts) int64 { return c.Rows }),
		of("ebb_commit_bytes_total", "Bytes of the arguments of the statements that wrote these rows.",
			func(c sqlstore.Counts) int64 { return c.Bytes }),
		of("ebb_poll_found_total",
			"Jobs claimed without a notification: many if notifications do not arrive.",
			func(c sqlstore.Counts) int64 { return c.Found }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Results of claims of jobs.
const (
	claimedResult = "claimed"
	noneResult    = "none"
	errorResult   = "error"
)

// ownFlows begins the names of flows of Ebb itself, such as that of a bulk command. They make no series.
const ownFlows = "ebb."

// maxScrapes bounds the number of concurrent requests for the metrics, because each answer is large.
//
//limit:http requests for `/metrics` at once | {} | 503
const maxScrapes = 10

// Handler serves the metrics to Prometheus.
func (m *Metrics) Handler() http.Handler {
	// If the database does not answer, the metrics that need no database are still served.
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
}

// Observe counts the events of an engine. Pass it to [engine.WithObserver].
func (m *Metrics) Observe(ev engine.Event) {
	switch {
	case strings.HasPrefix(ev.Flow, ownFlows):
	case ev.Kind == engine.FlowChanged && ev.From == states.FlowResuming.String(): // it was taken over, and continues
	case ev.Kind == engine.FlowChanged && rests(ev.To):
		m.runs.WithLabelValues(m.flow(ev.Flow), ev.To).Inc()
		if ev.Failure != nil && ev.To != states.FlowSuspended.String() {
			m.failures.WithLabelValues(m.code(ev.Flow, ev.Failure.Code)).Inc()
		}
	case ev.Kind != engine.AtomChanged || ev.Inner || ev.Timer:
	case ev.To == states.TaskRetrying.String():
		m.retries.WithLabelValues(m.flow(ev.Flow)).Inc()
	default:
		if op := operation(ev.To); op != "" {
			flow, atom := m.atom(ev.Flow, ev.Path)
			m.atoms.WithLabelValues(flow, atom, op, ev.To).Observe(ev.Duration.Seconds())
		}
	}
}

// rests reports whether a run in a state has come to rest.
func rests(state string) bool {
	switch state {
	case states.FlowSuccess.String(), states.FlowFailure.String(), states.FlowReverted.String(),
		states.FlowSuspended.String():
		return true
	}
	return false
}

// operation returns which operation of an atom has ended when the atom enters that state.
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
