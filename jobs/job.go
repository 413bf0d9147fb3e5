package jobs

import (
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A Job is a request for a run, to be posted.
type Job struct {
	ID      string // "" is a new one; posting the same id twice posts it once
	Flow    string // name of the flow that is to run
	Version int64  // of the flow; 0 is whatever is the newest when the run is made
	Run     string // id of the run that is wanted; "" is the job's
	Input   any    // what the run is begun with: a struct, a map, an [atom.Value]; it is encoded when it is posted
	// Labels are the offers that a process needs to run the job. They become the labels
	// "needs.…" of the run.
	Labels map[string]string
	// RunLabels are labels of the run, for queries and for limits.
	RunLabels map[string]string
	// Trace is the W3C traceparent that the run is begun under, see [atom.Traceparent];
	// "" is none.
	Trace     string
	Priority  int       // larger ones are claimed first
	NotBefore time.Time // zero is at once
}

// records returns jobs as they are stored. It returns the error of an input that
// cannot be encoded, or [storage.ErrInvalid] for a job that names no flow.
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

// record returns the job as it is stored.
func (j *Job) record(now time.Time) (storage.Job, error) {
	id := j.ID
	if id == "" {
		made, err := uuid.NewV7()
		if err != nil {
			return storage.Job{}, err
		}
		id = made.String()
	}
	r := storage.Job{
		ID: id, Run: j.Run, Flow: j.Flow, Version: j.Version, Labels: j.Labels, Priority: j.Priority, NotUntil: j.NotBefore, Created: now,
		RunLabels: j.RunLabels, Trace: j.Trace,
	}
	if r.Run == "" {
		r.Run = id
	}
	if r.Flow == "" {
		return r, fmt.Errorf("%w: job %q names no flow", storage.ErrInvalid, id)
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

// RunLabels returns the labels that the run of a job has: the job's RunLabels, and
// its needs.
func RunLabels(j *storage.Job) map[string]string {
	labels := make(map[string]string, len(j.Labels)+len(j.RunLabels))
	maps.Copy(labels, j.RunLabels)
	for k, v := range j.Labels {
		labels[storage.NeedLabel+k] = v
	}
	return labels
}
