package backend

import (
	"context"
	"iter"

	"github.com/ebbflow/ebb/internal/paging"
	"github.com/ebbflow/ebb/storage"
)

// EachJob reads the jobs that a query selects, page by page, up to q.Limit. The pages are read at different moments:
// jobs that are posted, purged or changed meanwhile may be missing. EachJob reads no job twice. It ends with the first
// error, such as that of ctx.
func EachJob(ctx context.Context, j Jobs, q storage.JobQuery) iter.Seq2[storage.Job, error] {
	read := func(limit int, last *storage.Job) ([]storage.Job, error) {
		if q.Limit = limit; last != nil {
			q.After = last
		}
		return j.JobList(ctx, q)
	}
	return paging.All(storage.ErrCorrupt, q.Limit, storage.PageRuns, read)
}

// EachSchedule reads the schedules that a query selects, page by page, up to q.Limit. The pages are read at different
// moments. It ends with the first error, such as that of ctx.
func EachSchedule(ctx context.Context, s Schedules, q ScheduleQuery) iter.Seq2[Schedule, error] {
	read := func(limit int, last *Schedule) ([]Schedule, error) {
		if q.Limit = limit; last != nil {
			q.After = last.ID
		}
		return s.Schedules(ctx, q)
	}
	return paging.All(storage.ErrCorrupt, q.Limit, storage.PageRuns, read)
}
