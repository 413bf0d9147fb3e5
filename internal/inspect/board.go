package inspect

import (
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Job describes a job in JSON, as `ebb jobs -o json` prints it. A zero time means that this did not happen yet.
type Job struct {
	ID       string            `json:"job"`                // id
	Run      string            `json:"run"`                // id of its run
	Flow     string            `json:"flow"`               // name of the flow
	Version  int64             `json:"version,omitzero"`   // version of the flow; 0 means the newest
	State    string            `json:"state"`              // a text of [states.Job], such as "UNCLAIMED"
	Priority int               `json:"priority"`           // jobs of larger priority are claimed first
	Needs    map[string]string `json:"needs,omitzero"`     // what a process must offer to claim it
	Labels   map[string]string `json:"labels,omitzero"`    // labels of the run
	NotUntil time.Time         `json:"not_until,omitzero"` // earliest time of a claim
	Created  time.Time         `json:"created"`            // when it was posted
	Ended    time.Time         `json:"ended,omitzero"`     // when it ended
	Attempts int               `json:"attempts,omitzero"`  // number of claims that did not create a run
	Error    string            `json:"error,omitzero"`     // code of the failure for which it is parked, or its run failed
	Cause    string            `json:"cause,omitzero"`     // text of that failure
	Unique   string            `json:"unique,omitzero"`    // text that at most one job has that has not ended
	Existed  bool              `json:"existed,omitzero"`   // in the answer to a post: a job with this ID was there before
	Wait     *Wait             `json:"wait,omitempty"`     // what it waits for, if it has no run yet
	Why      string            `json:"why,omitempty"`      // the same for people
}

// Waiting adds what a job waits for to its description.
func (out *Job) Waiting(one *JobWait, now time.Time) {
	if one != nil {
		out.Wait, out.Why = &one.Wait, one.Sentence(now)
	}
}

// JobOf returns the job as the JSON output shows it.
func JobOf(j *storage.Job) Job {
	out := Job{
		ID: j.ID, Run: j.Run, Flow: j.Flow, Version: j.Version, State: j.State.String(), Priority: j.Priority,
		Needs: j.Labels, Unique: j.Unique,
		Labels: j.RunLabels, NotUntil: j.NotUntil, Created: j.Created, Ended: j.Ended, Attempts: j.Attempts,
	}
	if j.Failure != nil {
		out.Error, out.Cause = j.Failure.Code, j.Failure.Message
	}
	return out
}

// A Schedule describes a schedule in JSON, as `ebb schedule list -o json` prints it. A zero time means
// that there was or will be no such tick.
type Schedule struct {
	ID       string            `json:"schedule"`         // id
	When     string            `json:"when"`             // times of its ticks, such as "30 2 * * *"
	Flow     string            `json:"flow"`             // name of the flow
	Version  int64             `json:"version,omitzero"` // version of the flow; 0 means the newest
	Priority int               `json:"priority"`         // priority of its jobs
	Needs    map[string]string `json:"needs,omitzero"`   // what a process must offer to claim its jobs
	Labels   map[string]string `json:"labels,omitzero"`  // labels of the runs
	CatchUp  int               `json:"catch_up"`         // maximum number of missed ticks that post a job later
	Paused   bool              `json:"paused"`           // its ticks post no jobs
	Next     time.Time         `json:"next,omitzero"`    // the next tick
	Last     time.Time         `json:"last,omitzero"`    // the last tick that posted a job
	Damage   string            `json:"damage,omitzero"`  // why the record cannot be read; only id and next are known then
}

// ScheduleOf returns the schedule as the JSON output shows it.
func ScheduleOf(s *backend.Schedule) Schedule {
	out := Schedule{
		ID: s.ID, When: s.Spec, Flow: s.Flow, Version: s.Version, Priority: s.Priority, Needs: s.Needs, Labels: s.Labels,
		CatchUp: s.CatchUp, Paused: s.Paused, Next: s.Next, Last: s.Last,
	}
	if s.Err != nil {
		out.Damage = s.Err.Error()
	}
	return out
}

// A Limit describes a limit in JSON, as `ebb limit -o json` prints it.
type Limit struct {
	Flow  string `json:"flow"`          // name of the flow; "" means every flow
	Label string `json:"label"`         // key of the label by whose values runs count; "" means none
	Runs  int    `json:"runs"`          // maximum number of runs at once; 0 means no limit
	Rate  int    `json:"rate,omitzero"` // maximum number of new runs in Per
	Per   string `json:"per,omitzero"`  // period of the rate, as Go writes durations

	Used  int    `json:"used"`           // runs driven now; of a limit by label, those of the value with the most
	Value string `json:"value,omitzero"` // of a limit by label: that value
	Least bool   `json:"least,omitzero"` // more runs may be driven, because not all runs were looked at
}

// LimitOf returns the limit as the JSON output shows it.
func LimitOf(l *LimitUse) Limit {
	out := Limit{
		Flow: l.Flow, Label: l.Label, Runs: l.Runs, Rate: l.Rate, Used: l.Used, Value: l.Value, Least: l.Least,
	}
	if l.Rate > 0 {
		out.Per = l.Per.String()
	}
	return out
}
