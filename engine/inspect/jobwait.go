package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// The kinds of waits of jobs. A job that a process could claim has a hindrance like a run that is due.
const (
	WaitsForRate      WaitKind = "rate"  // a rate allows the next claim
	WaitsForClaim     WaitKind = "claim" // the process that has claimed the job begins its run, or has died
	WaitsForParkedJob WaitKind = "job"   // an operator decides about a job that failed too often
)

// JobWaits finds what jobs wait for. It reads the facts of the store once.
type JobWaits struct {
	facts

	store storage.Store
	rates bool            // there are rates
	flows map[string]bool // whether the store has a definition of that name
}

// NewJobWaits returns a JobWaits of a store. Errors are the store's.
func NewJobWaits(ctx context.Context, store storage.Store) (*JobWaits, error) {
	j := &JobWaits{store: store, flows: map[string]bool{}}
	limits, err := store.Limits(ctx)
	if err != nil {
		return nil, err
	}
	j.rates = slices.ContainsFunc(limits, func(l storage.Limit) bool { return l.Rate > 0 })
	j.facts, err = readFacts(ctx, store)
	return j, err
}

// Of returns what a job waits for; nil if it has ended, or is bound to a run, which says it. Errors are the store's.
func (j *JobWaits) Of(ctx context.Context, job *storage.Job, now time.Time) (*JobWait, error) {
	one := &JobWait{Wait{Kind: WaitsForProcess, Since: job.Created.UTC(), Flow: job.Flow}, job.ID}
	if job.NotUntil.After(job.Created) {
		one.Since = job.NotUntil.UTC()
	}
	switch {
	case job.State.Ended() || job.State == states.JobClaimed && job.ClaimID == "":
		return nil, nil //nolint:nilnil // documented
	case job.State == states.JobParked:
		one.Kind, one.Failure = WaitsForParkedJob, FailureOf(job.Failure)
		return one, nil
	case job.State == states.JobClaimed:
		one.Kind, one.Since = WaitsForClaim, time.Time{}
		one.Process = &Owner{}
		if o := j.owner(job.Owner); o != nil {
			one.Process = ownerOf(o)
		}
		if one.Process.Alive && (job.Lease.IsZero() || job.Lease.After(now)) {
			return one, nil
		}
	case job.State == states.JobScheduled && job.NotUntil.After(now):
		one.Kind, one.Since, one.Due, one.Failure = WaitsForTime, time.Time{}, job.NotUntil.UTC(), FailureOf(job.Failure)
		return one, nil
	}
	if j.rates {
		rated, err := j.store.Rated(ctx, job)
		if err != nil {
			return nil, err
		}
		if rated != nil {
			one.Kind, one.Limit, one.Due, one.limited = WaitsForRate, rated.Reason(), rated.Next.UTC(), rated
			return one, nil
		}
	}
	return one, j.claimed(ctx, job, one)
}

// claimed says which process claims a job, or why none does.
func (j *JobWaits) claimed(ctx context.Context, job *storage.Job, one *JobWait) error {
	var by *engine.Presence
	for i := range j.present {
		p := &j.present[i]
		switch knows, err := j.knows(ctx, p, job); {
		case err != nil:
			return err
		case knows && j.offers(p, job) && (by == nil || by.Busy != "" && p.Busy == ""):
			by = p
		}
	}
	var err error
	if one.definition, err = j.defined(ctx, job.Flow); err != nil {
		return err
	}
	switch {
	case one.Kind == WaitsForClaim && by == nil:
	case by != nil:
		one.Kind, one.Process, one.slots = busyKinds[by.Busy], ownerOf(j.owner(by.Owner)), by.Slots
	default:
		if one.Needs = j.lacking(job.Labels); len(one.Needs) > 0 {
			one.Kind = WaitsForOffer
		}
	}
	return nil
}

// knows reports whether a process claims jobs of a flow.
func (j *JobWaits) knows(ctx context.Context, p *engine.Presence, job *storage.Job) (bool, error) {
	if !p.Claims {
		return false, nil
	}
	if slices.ContainsFunc(p.Flows, func(f engine.ServedFlow) bool { return f.Name == job.Flow }) {
		return true, nil
	}
	if !p.Definitions {
		return false, nil
	}
	return j.defined(ctx, job.Flow)
}

// defined reports whether the store has a definition of a flow.
func (j *JobWaits) defined(ctx context.Context, name string) (bool, error) {
	known, asked := j.flows[name]
	if !asked {
		_, err := storage.FindDefinition(ctx, j.store, name, 0)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return false, err
		}
		known = err == nil
		j.flows[name] = known
	}
	return known, nil
}

func (j *JobWaits) offers(p *engine.Presence, job *storage.Job) bool {
	for need, value := range job.Labels {
		if p.Offers[need] != value {
			return false
		}
	}
	return true
}

// A JobWait is what a job waits for that no process has begun to run.
type JobWait struct {
	Wait

	job string
}

// Sentence describes the wait for people. Ages are counted from now, and times are in the time zone of now.
func (one *JobWait) Sentence(now time.Time) string {
	switch one.Kind {
	case WaitsForRate:
		return fmt.Sprintf("It waits for a rate: %s; %d of them began in the last %v. The next may begin%s.",
			visible.Line(one.Limit), one.limited.Used, one.limited.Limit.Per, at(one.Due, now))
	case WaitsForTime:
		return fmt.Sprintf("It waits for its time%s%s.", at(one.Due, now), after(&one.Wait))
	case WaitsForParkedJob:
		return "It was set aside" + after(&one.Wait) + "."
	case WaitsForClaim:
		if !one.Process.Alive {
			return fmt.Sprintf("The process that claimed it has died, and no process serves its flow %s%s",
				visible.Line(one.Flow), one.server())
		}
		return upper(one.Process.String()) + " has claimed it, and begins its run."
	default:
		return one.hinders(now)
	}
}

// Way returns the command that lets the job go on; "" if there is none to name.
func (one *JobWait) Way() string {
	switch one.Kind {
	case WaitsForParkedJob, WaitsForTime:
		return "ebb jobs release " + visible.Word(one.job)
	default:
		return one.way()
	}
}

// ParkedJobs returns up to most parked jobs that have no run: the run of the others needs a person itself. Errors are
// the store's.
func ParkedJobs(ctx context.Context, store storage.Store, most int) (list []storage.Job, err error) {
	for job, err := range storage.EachJob(ctx, store, storage.JobQuery{States: []states.Job{states.JobParked}}) {
		if err != nil {
			return nil, err
		}
		run, err := store.Run(ctx, job.Run)
		switch {
		case err == nil && run.Job == job.ID:
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return nil, err
		default:
			list = append(list, job)
		}
		if len(list) == most {
			break
		}
	}
	return list, nil
}
