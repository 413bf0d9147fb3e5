// Package gauge lists the numbers that describe the state of a database. The metrics and ebb doctor report the same
// list, so that a number of one can be found in the other. It reads a status and no database.
package gauge

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A Gauge is one number that describes a database, or one for each combination of labels.
type Gauge struct {
	Name   string
	Help   string
	Check  string // the check of ebb doctor that reports it
	Labels []string
	read   func(*sqlstore.Status) []Value
}

// A Value is the value of a gauge for one combination of labels.
type Value struct {
	Labels []string // in the order of the gauge's
	Number float64
}

// Values returns the values of a gauge at the time of the status.
func (g *Gauge) Values(st *sqlstore.Status) []Value { return g.read(st) }

// Series returns the name of a value as Prometheus writes it.
func (g *Gauge) Series(v Value) string {
	if len(g.Labels) == 0 {
		return g.Name
	}
	var pairs []string
	for i, label := range g.Labels {
		pairs = append(pairs, fmt.Sprintf("%s=%q", label, v.Labels[i]))
	}
	return g.Name + "{" + strings.Join(pairs, ",") + "}"
}

// All returns the gauges.
func All() []Gauge {
	return []Gauge{
		{"ebb_runs", "Stored runs by state.", "stored runs", []string{"state"}, runs},
		number("ebb_driven_runs", "Runs that a process drives.", "stored runs",
			func(st *sqlstore.Status) int { return st.Driven }),
		number("ebb_undriven_runs", "Runs that no process drives: due for a minute, or their process has died.", "runs",
			func(st *sqlstore.Status) int { return st.Undriven.Count }),
		age("ebb_oldest_undriven_seconds", "How long the oldest run of ebb_undriven_runs has been due.", "runs",
			func(st *sqlstore.Status) time.Time { return st.Undriven.Since }),
		number("ebb_limited_runs", "Runs that were due for a minute and wait for their place under a limit.", "limits",
			func(st *sqlstore.Status) int { return st.Limited.Count }),
		number("ebb_needs_person_runs", "Runs whose undo failed or that were set aside: an operator must decide.",
			"need a person", func(st *sqlstore.Status) int { return st.NeedPerson.Count }),
		{
			"ebb_crash_loop_runs",
			"Runs with which processes died more than once within an hour. isolated=yes: the cause is sought.",
			"crash loops",
			[]string{"isolated"},
			func(st *sqlstore.Status) []Value {
				return []Value{
					{[]string{"yes"}, float64(st.Isolated)},
					{[]string{"no"}, float64(st.CrashLoops - st.Isolated)},
				}
			},
		},
		{"ebb_jobs", "Jobs on the board that have not ended.", "board", []string{"state"}, jobs},
		number("ebb_parked_jobs",
			"Parked jobs that have no run: an operator must decide. The runs of others are in ebb_needs_person_runs.",
			"parked jobs", func(st *sqlstore.Status) int { return st.ParkedJobs.Count }),
		number("ebb_unclaimed_jobs", "Jobs that were ready to be claimed for a minute.", "jobs",
			func(st *sqlstore.Status) int { return st.Unclaimed.Count }),
		age("ebb_oldest_unclaimed_seconds", "How long the oldest job has been ready to be claimed.", "board", oldestJob),
		number("ebb_parked_messages", "Messages that failed too often. 'ebb retry --messages' sends them again.",
			"parked messages", func(st *sqlstore.Status) int { return st.Parked.Count }),
		number("ebb_late_schedules", "Schedules whose tick was due for a minute.", "schedules",
			func(st *sqlstore.Status) int { return st.Late.Count }),
		{
			"ebb_limit_runs", "How many runs a limit allows at once.", "limits",
			[]string{"flow", "label"},
			limits(func(l *sqlstore.LimitUse) int { return l.Runs }),
		},
		{
			"ebb_limit_used_runs", "Driven runs that a limit counts. For a label, of the value with the most.", "limits",
			[]string{"flow", "label"},
			limits(func(l *sqlstore.LimitUse) int { return l.Used }),
		},
		number("ebb_processes", "Processes that use the database.", "processes",
			func(st *sqlstore.Status) int { return st.Processes }),
	}
}

// number returns a gauge that has one value.
func number(name, help, check string, n func(*sqlstore.Status) int) Gauge {
	return Gauge{name, help, check, nil, func(st *sqlstore.Status) []Value { return []Value{{nil, float64(n(st))}} }}
}

// age returns a gauge of the seconds since a time; 0 for no time.
func age(name, help, check string, since func(*sqlstore.Status) time.Time) Gauge {
	return Gauge{name, help, check, nil, func(st *sqlstore.Status) []Value {
		seconds := 0.0
		if began := since(st); !began.IsZero() {
			seconds = max(0, st.At.Sub(began).Seconds())
		}
		return []Value{{nil, seconds}}
	}}
}

func runs(st *sqlstore.Status) (values []Value) {
	for state := states.FlowPending; state <= states.FlowResuming; state++ {
		values = append(values, Value{[]string{state.String()}, float64(st.Runs[state])})
	}
	return values
}

func jobs(st *sqlstore.Status) (values []Value) {
	for _, state := range []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked} {
		values = append(values, Value{[]string{state.String()}, float64(jobsOf(st, state).Jobs)})
	}
	return values
}

func oldestJob(st *sqlstore.Status) time.Time { return jobsOf(st, states.JobUnclaimed).Since }

func jobsOf(st *sqlstore.Status, state states.Job) backend.JobCount {
	for _, count := range st.Jobs {
		if count.State == state {
			return count
		}
	}
	return backend.JobCount{}
}

// maxLimits bounds the series of limits, each of which a monitor keeps.
//
//limit:memory limits with series in metrics | {}, the first by flow and label | no series
const maxLimits = 100

func limits(n func(*sqlstore.LimitUse) int) func(*sqlstore.Status) []Value {
	return func(st *sqlstore.Status) (values []Value) {
		for i := range min(len(st.Limits), maxLimits) {
			l := &st.Limits[i]
			values = append(values, Value{[]string{l.Flow, l.Label}, float64(n(l))})
		}
		return values
	}
}
