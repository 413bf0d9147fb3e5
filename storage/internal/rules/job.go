package rules

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// OffersFor reports whether the claim offers everything that the job needs.
func OffersFor(q *backend.JobClaim, j *storage.Job) bool {
	for k, v := range j.Labels {
		if offered, ok := q.Labels[k]; !ok || offered != v {
			return false
		}
	}
	return true
}

// TakesFlow reports whether the claim takes jobs of a flow that has definitions in these languages.
func TakesFlow(q *backend.JobClaim, flow string, languages []string) bool {
	if len(q.Flows)+len(q.Languages) == 0 || slices.Contains(q.Flows, flow) {
		return true
	}
	return slices.ContainsFunc(languages, func(language string) bool {
		language, _, _ = strings.Cut(language, "/")
		return slices.Contains(q.Languages, language)
	})
}

// labelOf returns the value of a label of the job's run.
func labelOf(j *storage.Job, key string) (value string, has bool) {
	if need, is := strings.CutPrefix(key, backend.NeedLabel); is {
		if value, has = j.Labels[need]; has {
			return value, true
		}
	}
	value, has = j.RunLabels[key]
	return value, has
}

// TakesRun reports whether the query takes runs with these labels.
func TakesRun(q *backend.DueQuery, labels map[string]string) bool {
	for k, v := range labels {
		need, is := strings.CutPrefix(k, backend.NeedLabel)
		if offered, ok := q.Offers[need]; is && (!ok || offered != v) {
			return false
		}
	}
	return true
}

// Posted returns the job as the board stores it: without a claim, and scheduled if its time has not come.
func Posted(j *storage.Job, now time.Time) storage.Job {
	p := CopyJob(j)
	p.Epoch, p.ClaimID, p.Owner, p.Lease, p.Attempts, p.Ended = 0, "", "", time.Time{}, 0, time.Time{}
	if p.Created.IsZero() {
		p.Created = now
	}
	if p.State == states.JobUnclaimed && !p.NotUntil.IsZero() { // whether it has come is for the store's clock to say
		p.State = states.JobScheduled
	}
	return p
}

// SameJob returns ErrJobDiffers, with what differs, unless a job asks for the same as the posted one with its id.
func SameJob(posted, job *storage.Job) error {
	var others []string
	if posted.Flow != job.Flow {
		others = append(others, "flow")
	}
	if posted.Run != job.Run {
		others = append(others, "run")
	}
	if !sameInput(posted.Input, job.Input) {
		others = append(others, "input")
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%w: job %q has another %s; choose another id", storage.ErrJobDiffers, job.ID,
		strings.Join(others, " and "))
}

// sameInput reports whether two inputs are the same value; none is {}.
func sameInput(a, b atom.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var values [2]any
	for i, v := range [2]atom.Value{a, b} {
		if v == nil {
			values[i] = map[string]any{}
		} else if v.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// Ends reports whether the JobEnd changes the job. If the job already has that state, Ends returns false and no
// error. In a checkpoint, run is the id of the checkpoint's run; otherwise it is "". Ends returns the errors of
// JobEnd.
func Ends(e *backend.JobEnd, j *storage.Job, run string) (bool, error) {
	theirs := run != "" && j.Run == run
	switch {
	case e.ClaimID != "":
		if j.State != states.JobClaimed || j.Epoch != e.Epoch || j.ClaimID != e.ClaimID {
			return false, fenced(e)
		}
	case theirs && (j.State.Ended() || j.State == e.State):
		return false, nil
	case run != "" && !theirs, j.State == states.JobClaimed && (!theirs || j.ClaimID != ""):
		return false, fenced(e)
	}
	if err := states.Check(j.State, e.State); err != nil {
		return false, fmt.Errorf("%w: job %q: %w", storage.ErrInvalid, e.Job, err)
	}
	return true, nil
}

func fenced(e *backend.JobEnd) error { return fmt.Errorf("%w: job %q", storage.ErrFenced, e.Job) }

// Wanted returns ErrFenced if the job cannot be bound to the run with that id.
func Wanted(j *storage.Job, run string) error {
	switch {
	case j.Run != run:
		return fmt.Errorf("%w: job %q asks for run %q, not %q", storage.ErrFenced, j.ID, j.Run, run)
	case j.State == states.JobComplete || j.State == states.JobParked:
		return fmt.Errorf("%w: job %q is %v", storage.ErrFenced, j.ID, j.State)
	}
	return nil
}

// CopyFailure returns a copy, clipped to the limits of stored failures.
func CopyFailure(f *atom.Failure) *atom.Failure {
	if f == nil {
		return nil
	}
	c := *f.Bounded()
	return &c
}

// CopyJob returns a deep copy of the job.
func CopyJob(j *storage.Job) storage.Job {
	c := *j
	c.Labels, c.RunLabels = maps.Clone(j.Labels), maps.Clone(j.RunLabels)
	c.Failure = CopyFailure(j.Failure)
	return c
}
