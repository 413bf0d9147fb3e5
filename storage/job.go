package storage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/states"
)

// Takes reports whether the claim takes jobs of this flow and these labels. For
// those who write stores.
func (q *JobClaim) Takes(j *Job) bool {
	for k, v := range j.Labels {
		if offered, ok := q.Labels[k]; !ok || offered != v {
			return false
		}
	}
	return len(q.Flows) == 0 || slices.Contains(q.Flows, j.Flow)
}

// label returns the value of a label that the run of the job has.
func (j *Job) label(key string) (value string, has bool) {
	if need, is := strings.CutPrefix(key, NeedLabel); is {
		if value, has = j.Labels[need]; has {
			return value, true
		}
	}
	value, has = j.RunLabels[key]
	return value, has
}

// Takes reports whether the query takes runs with these labels. For those who
// write stores.
func (q *DueQuery) Takes(labels map[string]string) bool {
	for k, v := range labels {
		need, is := strings.CutPrefix(k, NeedLabel)
		if offered, ok := q.Offers[need]; is && (!ok || offered != v) {
			return false
		}
	}
	return true
}

// Posted returns the job as it is put on the board: what says of claims is the
// board's to say, and one whose time has not come is scheduled. For those who
// write stores.
func (j *Job) Posted(now time.Time) Job {
	p := copyJob(j)
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
// id of the checkpoint's run; else it is "". The errors are those of JobEnd. For
// those who write stores.
func (e *JobEnd) Ends(j *Job, run string) (bool, error) {
	theirs := run != "" && j.Run == run
	switch {
	case e.ClaimID != "":
		if j.State != states.JobClaimed || j.Epoch != e.Epoch || j.ClaimID != e.ClaimID {
			return false, e.fenced()
		}
	case theirs && (j.State.Ended() || j.State == e.State):
		return false, nil
	case run != "" && !theirs, j.State == states.JobClaimed && (!theirs || j.ClaimID != ""):
		return false, e.fenced()
	}
	if err := states.Check(j.State, e.State); err != nil {
		return false, fmt.Errorf("%w: job %q: %w", ErrInvalid, e.Job, err)
	}
	return true, nil
}

func (e *JobEnd) fenced() error { return fmt.Errorf("%w: job %q", ErrFenced, e.Job) }

// Wanted returns ErrFenced unless the job may be made the run of that id. For
// those who write stores.
func (j *Job) Wanted(run string) error {
	switch {
	case j.Run != run:
		return fmt.Errorf("%w: job %q wants the run %q, not %q", ErrFenced, j.ID, j.Run, run)
	case j.State == states.JobComplete || j.State == states.JobParked:
		return fmt.Errorf("%w: job %q is %v", ErrFenced, j.ID, j.State)
	}
	return nil
}
