package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A statusCollector reports the state of the database when a client asks for the metrics.
type statusCollector struct {
	read   func(context.Context) (*sqlstore.Status, error)
	deaths func() int64

	mu    sync.Mutex
	again time.Time // when the status may be read next
	last  *sqlstore.Status
	err   error
}

// countShare bounds the time that the status takes of the database, which may have any number of runs and jobs: one
// part in this many, no matter how often clients ask.
const countShare = 20

// gauges describe the status. The order is that of the struct's fields.
var gauges = struct {
	runs, driven, undriven, oldestUndriven, limited, person, suspects, jobs, unclaimed, oldestJob, parked, late,
	limit, used, processes, deaths *prometheus.Desc
}{
	runs:           gauge("ebb_runs", "Stored runs by state.", "state"),
	driven:         gauge("ebb_driven_runs", "Runs that a process drives."),
	undriven:       gauge("ebb_undriven_runs", "Runs that were due for a minute and that no process drives."),
	oldestUndriven: gauge("ebb_oldest_undriven_seconds", "How long the oldest run of ebb_undriven_runs has been due."),
	limited:        gauge("ebb_limited_runs", "Runs that were due for a minute and wait for their place under a limit."),
	person: gauge("ebb_needs_person_runs",
		"Runs whose undo failed or that were set aside: an operator must decide."),
	suspects: gauge("ebb_suspect_runs",
		"Runs with which processes died more than once within an hour. trial=yes: on trial now.", "trial"),
	jobs:      gauge("ebb_jobs", "Jobs on the board that have not ended.", "state"),
	unclaimed: gauge("ebb_unclaimed_jobs", "Jobs that were ready to be claimed for a minute."),
	oldestJob: gauge("ebb_oldest_unclaimed_seconds", "How long the oldest job has been ready to be claimed."),
	parked: gauge("ebb_parked_messages",
		"Messages that failed too often. 'ebb retry --messages' sends them again."),
	late:  gauge("ebb_late_schedules", "Schedules whose tick was due for a minute."),
	limit: gauge("ebb_limit_runs", "How many runs a limit allows at once.", "flow", "label"),
	used: gauge("ebb_limit_used_runs",
		"Driven runs that a limit counts. For a label, of the value with the most.", "flow", "label"),
	processes: gauge("ebb_processes", "Processes that use the database."),
	deaths:    gauge("ebb_process_deaths_total", "Processes that this one found dead."),
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (c *statusCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		gauges.runs, gauges.driven, gauges.undriven, gauges.oldestUndriven, gauges.limited, gauges.person, gauges.suspects,
		gauges.jobs, gauges.unclaimed, gauges.oldestJob, gauges.parked, gauges.late, gauges.limit, gauges.used,
		gauges.processes, gauges.deaths,
	} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *statusCollector) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(gauges.deaths, prometheus.CounterValue, float64(c.deaths()))
	st, err := c.status()
	if err != nil {
		to <- prometheus.NewInvalidMetric(gauges.runs, err)
		return
	}
	put := func(d *prometheus.Desc, value int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	for state := states.FlowPending; state <= states.FlowResuming; state++ {
		put(gauges.runs, st.Runs[state], state.String())
	}
	put(gauges.driven, st.Driven)
	put(gauges.undriven, st.Undriven.Count)
	put(gauges.limited, st.Limited.Count)
	put(gauges.person, st.NeedPerson.Count)
	put(gauges.suspects, st.OnTrial, "yes")
	put(gauges.suspects, st.Suspects-st.OnTrial, "no")
	put(gauges.unclaimed, st.Unclaimed.Count)
	put(gauges.parked, st.Parked.Count)
	put(gauges.late, st.Late.Count)
	put(gauges.processes, st.Processes)
	for _, l := range st.Limits {
		put(gauges.limit, l.Runs, l.Flow, l.Label)
		put(gauges.used, l.Used, l.Flow, l.Label)
	}
	to <- age(gauges.oldestUndriven, st.Undriven.Since)
	collectJobs(to, st.Jobs)
}

func collectJobs(to chan<- prometheus.Metric, counts []storage.JobCount) {
	jobs, oldest := map[states.Job]int{}, time.Time{}
	for _, count := range counts {
		jobs[count.State] = count.Jobs
		if count.State == states.JobUnclaimed {
			oldest = count.Since
		}
	}
	for _, state := range []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked} {
		to <- prometheus.MustNewConstMetric(gauges.jobs, prometheus.GaugeValue, float64(jobs[state]), state.String())
	}
	to <- age(gauges.oldestJob, oldest)
}

// age returns the time since then, in seconds; 0 for no time.
func age(d *prometheus.Desc, since time.Time) prometheus.Metric {
	seconds := 0.0
	if !since.IsZero() {
		seconds = max(0, time.Since(since).Seconds())
	}
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, seconds)
}

// status reads the status, or returns what was read lately.
func (c *statusCollector) status() (*sqlstore.Status, error) {
	const patience = 5 * time.Second
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if began.Before(c.again) {
		return c.last, c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.last, c.err = c.read(ctx)
	c.again = time.Now().Add((countShare - 1) * time.Since(began))
	return c.last, c.err
}
