package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// The kinds of waits of jobs. A job that a process could claim has a hindrance like a run that is due.
const (
	WaitsForClaim     WaitKind = "claim" // the process that has claimed the job begins its run, or has died
	WaitsForParkedJob WaitKind = "job"   // an operator decides about a job that failed too often
	WaitsForClaimer   WaitKind = "jobs"  // a process claims the jobs of a flow; see [WaitGroup.Lacks]
)

// JobWaits finds what jobs wait for. It reads the facts of the store once.
type JobWaits struct {
	facts

	store backend.Store
	rates bool            // there are rates
	flows map[string]bool // whether the store has a definition of that name
}

// NewJobWaits returns a JobWaits of a store. Errors are the store's.
func NewJobWaits(ctx context.Context, store backend.Store) (*JobWaits, error) {
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
	t, err := j.taking(ctx, job, one)
	if err == nil {
		one.hinderedBy(&t)
	}
	return one, err
}

// taking returns what decides whether a process claims a job.
func (j *JobWaits) taking(ctx context.Context, job *storage.Job, one *JobWait) (t taking, err error) {
	if t.barred = j.barred; j.rates {
		if t.limited, err = j.store.Rated(ctx, job); err != nil {
			return t, err
		}
	}
	if one.definition, err = j.defined(ctx, job.Flow); err != nil {
		return t, err
	}
	by := j.taker(func(p *engine.Presence) bool { return j.claims(p, job, one.definition) }, "")
	switch {
	case by != nil:
		t.server, t.busy, t.slots = j.owner(by.Owner), by.Busy, by.Slots
	case one.Kind != WaitsForClaim: // whose process has died
		t.needs = j.lacking(job.Labels)
	}
	return t, nil
}

// claims reports whether a process claims a job, which has a definition or not.
func (j *JobWaits) claims(p *engine.Presence, job *storage.Job, defined bool) bool {
	named := func(f engine.ServedFlow) bool { return f.Name == job.Flow }
	return p.Claims && j.offers(p, job) && (p.Definitions && defined || slices.ContainsFunc(p.Flows, named))
}

// defined reports whether the store has a definition of a flow.
func (j *JobWaits) defined(ctx context.Context, name string) (bool, error) {
	known, asked := j.flows[name]
	if !asked {
		_, err := backend.FindDefinition(ctx, j.store, name, 0)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return false, err
		}
		known = err == nil || backend.IsOwnFlow(name)
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
func ParkedJobs(ctx context.Context, store backend.Store, most int) (list []storage.Job, err error) {
	for job, err := range backend.EachJob(ctx, store, storage.JobQuery{States: []states.Job{states.JobParked}}) {
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
