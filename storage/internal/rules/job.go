package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TakesJob reports whether the claim takes jobs of this flow and these labels.
func TakesJob(q *storage.JobClaim, j *storage.Job) bool {
	for k, v := range j.Labels {
		if offered, ok := q.Labels[k]; !ok || offered != v {
			return false
		}
	}
	return len(q.Flows) == 0 || slices.Contains(q.Flows, j.Flow)
}

// label returns the value of a label that the run of the job has.
func labelOf(j *storage.Job, key string) (value string, has bool) {
	if need, is := strings.CutPrefix(key, storage.NeedLabel); is {
		if value, has = j.Labels[need]; has {
			return value, true
		}
	}
	value, has = j.RunLabels[key]
	return value, has
}

// TakesRun reports whether the query takes runs with these labels.
func TakesRun(q *storage.DueQuery, labels map[string]string) bool {
	for k, v := range labels {
		need, is := strings.CutPrefix(k, storage.NeedLabel)
		if offered, ok := q.Offers[need]; is && (!ok || offered != v) {
			return false
		}
	}
	return true
}

// Posted returns the job as it is put on the board: what says of claims is the
// board's to say, and one whose time has not come is scheduled.
func Posted(j *storage.Job, now time.Time) storage.Job {
	p := CopyJob(j)
	p.Epoch, p.ClaimID, p.Owner, p.Lease, p.Attempts, p.Ended = 0, "", "", time.Time{}, 0, time.Time{}
	if p.Created.IsZero() {
		p.Created = now
	}
	if p.State == states.JobUnclaimed && p.NotUntil.After(now) {
		p.State = states.JobScheduled
	}
	return p
}

// Ends reports whether the end is to be written to the job as it stands: it is
// not, without an error, when it says nothing new. In a checkpoint, run is the
// id of the checkpoint's run; else it is "". The errors are those of JobEnd.
func Ends(e *storage.JobEnd, j *storage.Job, run string) (bool, error) {
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

func fenced(e *storage.JobEnd) error { return fmt.Errorf("%w: job %q", storage.ErrFenced, e.Job) }

// Wanted returns ErrFenced unless the job may be made the run of that id.
func Wanted(j *storage.Job, run string) error {
	switch {
	case j.Run != run:
		return fmt.Errorf("%w: job %q wants the run %q, not %q", storage.ErrFenced, j.ID, j.Run, run)
	case j.State == states.JobComplete || j.State == states.JobParked:
		return fmt.Errorf("%w: job %q is %v", storage.ErrFenced, j.ID, j.State)
	}
	return nil
}

// CopyFailure returns a copy, within the bounds of what is kept.
func CopyFailure(f *atom.Failure) *atom.Failure {
	if f == nil {
		return nil
	}
	c := *f.Bounded()
	return &c
}

// CopyJob returns a copy that shares nothing with the job.
func CopyJob(j *storage.Job) storage.Job {
	c := *j
	c.Labels, c.RunLabels = maps.Clone(j.Labels), maps.Clone(j.RunLabels)
	c.Failure = CopyFailure(j.Failure)
	return c
}
