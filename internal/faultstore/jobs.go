package faultstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

func (f *store) SetLimit(ctx context.Context, limit storage.Limit) error {
	return f.do(ctx, Call{Method: "SetLimit"}, func() error { return f.Store.SetLimit(ctx, limit) })
}

func (f *store) Limits(ctx context.Context) ([]storage.Limit, error) {
	return answer(ctx, f, Call{Method: "Limits"}, func() ([]storage.Limit, error) { return f.Store.Limits(ctx) })
}

func (f *store) Limited(ctx context.Context, run string) (*storage.LimitedError, error) {
	return answer(ctx, f, Call{Method: "Limited", Run: run}, func() (*storage.LimitedError, error) {
		return f.Store.Limited(ctx, run)
	})
}

func (f *store) Rated(ctx context.Context, job *storage.Job) (*storage.LimitedError, error) {
	return answer(ctx, f, Call{Method: "Rated"}, func() (*storage.LimitedError, error) { return f.Store.Rated(ctx, job) })
}

func (f *store) PostJob(ctx context.Context, list ...storage.Job) error {
	call := Call{Method: "PostJob"}
	if len(list) == 1 {
		call.Run = list[0].Run
	}
	return f.do(ctx, call, func() error { return f.Store.PostJob(ctx, list...) })
}

func (f *store) ClaimJobs(ctx context.Context, q backend.JobClaim) ([]storage.Job, error) {
	return answer(ctx, f, Call{Method: "ClaimJobs"}, func() ([]storage.Job, error) { return f.Store.ClaimJobs(ctx, q) })
}

func (f *store) EndJob(ctx context.Context, end backend.JobEnd) error {
	return f.do(ctx, Call{Method: "EndJob"}, func() error { return f.Store.EndJob(ctx, end) })
}

func (f *store) Job(ctx context.Context, id string) (storage.Job, error) {
	return answer(ctx, f, Call{Method: "Job"}, func() (storage.Job, error) { return f.Store.Job(ctx, id) })
}

func (f *store) JobList(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	return answer(ctx, f, Call{Method: "JobList"}, func() ([]storage.Job, error) { return f.Store.JobList(ctx, q) })
}

func (f *store) JobCounts(ctx context.Context) ([]backend.JobCount, error) {
	return answer(ctx, f, Call{Method: "JobCounts"}, func() ([]backend.JobCount, error) { return f.Store.JobCounts(ctx) })
}

func (f *store) PurgeJobs(ctx context.Context, q backend.JobPurge) (int, error) {
	return answer(ctx, f, Call{Method: "PurgeJobs"}, func() (int, error) { return f.Store.PurgeJobs(ctx, q) })
}

func (f *store) PutSchedule(ctx context.Context, s backend.Schedule) error {
	return f.do(ctx, Call{Method: "PutSchedule"}, func() error { return f.Store.PutSchedule(ctx, s) })
}

func (f *store) MoveSchedule(ctx context.Context, move backend.ScheduleMove) error {
	return f.do(ctx, Call{Method: "MoveSchedule"}, func() error { return f.Store.MoveSchedule(ctx, move) })
}

func (f *store) DeleteSchedule(ctx context.Context, id string) error {
	return f.do(ctx, Call{Method: "DeleteSchedule"}, func() error { return f.Store.DeleteSchedule(ctx, id) })
}

func (f *store) Schedule(ctx context.Context, id string) (backend.Schedule, error) {
	return answer(ctx, f, Call{Method: "Schedule"}, func() (backend.Schedule, error) { return f.Store.Schedule(ctx, id) })
}

func (f *store) Schedules(ctx context.Context, q backend.ScheduleQuery) ([]backend.Schedule, error) {
	return answer(ctx, f, Call{Method: "Schedules"}, func() ([]backend.Schedule, error) {
		return f.Store.Schedules(ctx, q)
	})
}

func (f *store) DueSchedules(ctx context.Context, after backend.Schedule, limit int,
) (due []backend.Schedule, now, next time.Time, err error) {
	err = f.do(ctx, Call{Method: "DueSchedules"}, func() (err error) {
		due, now, next, err = f.Store.DueSchedules(ctx, after, limit)
		return err
	})
	return due, now, next, err
}
