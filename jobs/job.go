package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Job is a request for a run, for [Board.Post].
type Job struct {
	ID      string // "" means a new id; posting the same job with the same id twice posts it once
	Flow    string // name of the flow to run
	Version int64  // version of the flow; 0 means the newest when the run is created
	Run     string // id of the run; "" means the job's id
	Input   any    // input of the run: a struct, a map or an [atom.Value]; Post encodes it
	// Labels are the offers that a process needs to run the job. They become labels "needs.…" of the run.
	Labels map[string]string
	// RunLabels are labels of the run, for queries and for limits.
	RunLabels map[string]string
	// Trace is the W3C traceparent under which the run starts, see [atom.Traceparent]; "" means none.
	Trace     string
	Priority  int       // a larger priority is claimed first
	NotBefore time.Time // earliest time of a claim; zero means at once
	// Unique is a text that at most one job has that has not ended, over all flows, such as "invoice-17". While such a job
	// is open, [Board.Post] posts no other, and returns the id of that one; [Board.PostNew] says so. When the job
	// has ended, the text is free. "" means none.
	Unique string
}

// NewID returns an id that no job and no run has: the name of the flow, if it fits, and a UUID of version 7.
func NewID(flow string) string {
	id := uuid.Must(uuid.NewV7()).String()
	if named := flow + "-" + id; len(named) <= backend.MaxID {
		return named
	}
	return id
}

// records returns the stored form of jobs. If an input cannot be encoded, it returns the encoding error. If a job
// has no flow, it returns [storage.ErrInvalid].
func records(now time.Time, list []Job) ([]storage.Job, error) {
	out := make([]storage.Job, len(list))
	for i := range list {
		var err error
		if out[i], err = list[i].record(now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// record returns the stored form of the job.
func (j *Job) record(now time.Time) (storage.Job, error) {
	id := j.ID
	if id == "" {
		id = uuid.Must(uuid.NewV7()).String()
	}
	r := storage.Job{
		ID: id, Run: j.Run, Flow: j.Flow, Version: j.Version, Labels: j.Labels, Priority: j.Priority, NotUntil: j.NotBefore,
		Created:   now,
		RunLabels: j.RunLabels, Trace: j.Trace, Unique: j.Unique,
	}
	if r.Run == "" {
		r.Run = id
	}
	err := cmp.Or(backend.CheckID("job", id), backend.CheckID("run", r.Run), backend.CheckID("flow", r.Flow))
	if err != nil {
		return r, err
	}
	if j.Input == nil {
		return r, nil
	}
	input, err := atom.Encode(j.Input)
	if err != nil {
		return r, fmt.Errorf("jobs: the input of job %q: %w", id, err)
	}
	r.Input = input
	return r, nil
}

// RunLabels returns the labels of the job's run: the job's RunLabels, and the labels for its needs.
func RunLabels(j *storage.Job) map[string]string {
	labels := make(map[string]string, len(j.Labels)+len(j.RunLabels))
	maps.Copy(labels, j.RunLabels)
	for k, v := range j.Labels {
		labels[backend.NeedLabel+k] = v
	}
	return labels
}
