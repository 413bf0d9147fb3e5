package api

import (
	"context"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Jobs is a page of jobs, in the order in which they are claimed.
type Jobs struct {
	// Without after: how many jobs that have not ended there are, by state
	Counts []inspect.JobCount `json:"counts,omitempty"`
	Jobs   []inspect.Job      `json:"jobs"`
	Next   string             `json:"next,omitempty"` // for after, for the next page; "" if there are no more jobs
}

// jobs serves a page of jobs.
func (a *api) jobs(c *call) (any, error) {
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	of, err := inspect.ParseJobStates(c.query["state"], true)
	if err != nil {
		return nil, err
	}
	after := c.query.Get("after")
	page, next, err := inspect.JobPage(c.Context(), a.store, of, after, limit)
	if err != nil {
		return nil, there(err, "job", after)
	}
	out := Jobs{Next: next}
	if out.Jobs, err = a.described(c.Context(), page...); err == nil && after == "" {
		out.Counts, err = inspect.JobCounts(c.Context(), a.store)
	}
	return out, err
}

func (a *api) job(c *call) (any, error) {
	id := c.PathValue("job")
	job, err := a.store.Job(c.Context(), id)
	if err != nil {
		return nil, there(err, "job", id)
	}
	list, err := a.described(c.Context(), job)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// described returns jobs with what they wait for.
func (a *api) described(ctx context.Context, list ...storage.Job) ([]inspect.Job, error) {
	out := make([]inspect.Job, len(list))
	waits, err := inspect.NewJobWaits(ctx, a.store)
	if err != nil {
		return nil, err
	}
	now := a.store.Now()
	for i := range list {
		one, err := waits.Of(ctx, &list[i], now)
		if err != nil {
			return nil, err
		}
		out[i] = inspect.JobOf(&list[i])
		out[i].Waiting(one, now)
	}
	return out, nil
}

// changeJob changes a job, and serves it.
func changeJob(
	verb string, to states.Job, change func(ctx context.Context, b *jobs.Board, c *call) error,
) func(*api, *call) (any, error) {
	return func(a *api, c *call) (any, error) {
		id := c.PathValue("job")
		if c.once.again {
			return a.job(c)
		}
		ctx, err := c.audited(a, verb, "job "+id)
		if err != nil {
			return nil, err
		}
		if err := change(ctx, jobs.New(a.store, jobs.Policy{}), c); err != nil {
			return nil, there(err, "job", id)
		}
		job, err := a.store.Job(c.Context(), id)
		return committed(inspect.JobOf(&job), inspect.Job{ID: id, Run: id, State: to.String()}, err)
	}
}

// Schedules is a page of schedules, ordered by id.
type Schedules struct {
	Schedules []inspect.Schedule `json:"schedules"`
	Next      string             `json:"next,omitempty"` // id for after, for the next page; "" if there are no more
}

func (a *api) schedules(c *call) (any, error) {
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	page, more, err := inspect.SchedulePage(c.Context(), a.store, c.query.Get("after"), limit)
	out := Schedules{Schedules: []inspect.Schedule{}}
	for i := range page {
		out.Schedules = append(out.Schedules, inspect.ScheduleOf(&page[i]))
	}
	if more {
		out.Next = page[len(page)-1].ID
	}
	return out, err
}

// pauseSchedule pauses or resumes a schedule, and serves it.
func pauseSchedule(verb string, paused bool) func(*api, *call) (any, error) {
	return func(a *api, c *call) (any, error) {
		id := c.PathValue("schedule")
		ctx, err := c.audited(a, verb, "schedule "+id)
		if err == nil && !c.once.again {
			err = jobs.New(a.store, jobs.Policy{}).PauseSchedule(ctx, id, paused)
		}
		if err != nil {
			return nil, there(err, "schedule", id)
		}
		is, err := a.store.Schedule(c.Context(), id)
		return committed(inspect.ScheduleOf(&is), inspect.Schedule{ID: id, Paused: paused}, err)
	}
}

// Processes are those that use the database, or did so until lately: those that live first.
type Processes struct {
	Processes []inspect.Process `json:"processes"`
}

func (a *api) processes(c *call) (any, error) {
	list, err := inspect.Processes(c.Context(), a.store)
	return Processes{list}, err
}

// Limits are all limits, ordered by flow and label.
type Limits struct {
	Limits []inspect.Limit `json:"limits"`
}

func (a *api) limits(c *call) (any, error) { return a.allLimits(c) }

func (a *api) allLimits(c *call) (Limits, error) {
	all, err := inspect.LimitUses(c.Context(), a.store)
	out := Limits{Limits: []inspect.Limit{}}
	for i := range all {
		out.Limits = append(out.Limits, inspect.LimitOf(&all[i]))
	}
	return out, err
}
