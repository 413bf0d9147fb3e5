package api

import (
	"context"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Jobs is a page of jobs, in the order in which they are claimed.
type Jobs struct {
	Jobs []inspect.Job `json:"jobs"`
	Next string        `json:"next,omitempty"` // for after, for the next page; "" if there are no more jobs
}

// placeAfter returns the place in a list of jobs that a text names: a cursor, which still does so when its job was
// purged, or the id of a job.
func (a *api) placeAfter(ctx context.Context, text string) (*storage.Job, error) {
	var job storage.Job
	if _, err := fmt.Sscanf(text, jobCursor, &job.Priority, &job.Number); err == nil {
		return &job, nil
	}
	job, err := a.store.Job(ctx, text)
	return &job, there(err, "job", text)
}

// jobCursor is the form of a cursor of jobs: priority and number.
const jobCursor = "p%d.%d"

// jobs serves a page of jobs.
func (a *api) jobs(c *call) (any, error) {
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	q := storage.JobQuery{Limit: limit}
	for _, text := range c.query["state"] {
		var state states.Job
		if err := state.UnmarshalText([]byte(strings.ToUpper(text))); err != nil {
			return nil, problem(400, "invalid", "state: %v", err)
		}
		q.States = append(q.States, state)
	}
	if after := c.query.Get("after"); after != "" {
		if q.After, err = a.placeAfter(c.Context(), after); err != nil {
			return nil, err
		}
	}
	page, err := a.store.JobList(c.Context(), q)
	out := Jobs{}
	if err == nil {
		out.Jobs, err = a.described(c.Context(), page...)
	}
	if err == nil && len(page) > 0 {
		q.After, q.Limit = &page[len(page)-1], 1
		var more []storage.Job
		if more, err = a.store.JobList(c.Context(), q); len(more) > 0 {
			out.Next = fmt.Sprintf(jobCursor, q.After.Priority, q.After.Number)
		}
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
