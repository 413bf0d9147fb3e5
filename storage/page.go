package storage

import (
	"context"
	"iter"
)

// A run may be larger than memory, so Ebb reads its records in pages. A store ends a page early when the values in
// it reach PageBytes, but a page that is not empty has at least one record.
const (
	// PageRecords is the number of records that [EachAtom], [EachEntry], [EachEvent], [EachUndo], [EachDefinition]
	// and [EachRecord] read at
	// a time.
	//
	//limit:storage atoms or lines of history read at once (`storage.PageRecords`) | {} | the next page
	PageRecords = 2000
	// PageRuns is the number of records that [EachRun], [EachJob] and [EachSchedule] read at a time.
	PageRuns = 500
	// PageBytes is the number of bytes of values in a page with a limit. The last record may exceed it.
	//
	//limit:storage bytes of values read at once (`storage.PageBytes`) | {B}, plus one record | the next page
	PageBytes = 4 << 20
)

// EachRun reads the runs that a query selects, page by page, up to q.Limit. The pages are read at different moments:
// runs that are created, purged or changed meanwhile may be missing. EachRun reads a run twice only if the query is for
// due runs. It ends with the first error, such as that of ctx.
func EachRun(ctx context.Context, r Reader, q RunQuery) iter.Seq2[Run, error] {
	return pages(q.Limit, PageRuns, func(limit int, last *Run) ([]Run, error) {
		if q.Limit = limit; last != nil {
			q.After = last
		}
		return r.Runs(ctx, q)
	})
}

// EachJob reads the jobs that a query selects, page by page, up to q.Limit. The pages are read at different moments:
// jobs that are posted, purged or changed meanwhile may be missing. EachJob reads no job twice. It ends with the first
// error, such as that of ctx.
func EachJob(ctx context.Context, j Jobs, q JobQuery) iter.Seq2[Job, error] {
	return pages(q.Limit, PageRuns, func(limit int, last *Job) ([]Job, error) {
		if q.Limit = limit; last != nil {
			q.After = last
		}
		return j.JobList(ctx, q)
	})
}

// EachRecord reads the named records that a query selects, page by page, up to q.Limit. The pages are read at different
// moments: records that are written or deleted meanwhile may be missing. EachRecord reads no record twice, unless it is
// ordered by time and the record is deleted and written again. It ends with the first error, such as that of ctx.
func EachRecord(ctx context.Context, r NamedRecords, q RecordQuery) iter.Seq2[NamedRecord, error] {
	return pages(q.Limit, PageRecords, func(limit int, last *NamedRecord) ([]NamedRecord, error) {
		if q.Limit = limit; last != nil {
			q.After = last
		}
		return r.NamedRecords(ctx, q)
	})
}

// EachSchedule reads the schedules that a query selects, page by page, up to q.Limit. The pages are read at different
// moments. It ends with the first error, such as that of ctx.
func EachSchedule(ctx context.Context, s Schedules, q ScheduleQuery) iter.Seq2[Schedule, error] {
	return pages(q.Limit, PageRuns, func(limit int, last *Schedule) ([]Schedule, error) {
		if q.Limit = limit; last != nil {
			q.After = last.ID
		}
		return s.Schedules(ctx, q)
	})
}

// EachDefinition reads the definitions that a query selects, page by page, up to q.Limit, without their texts. The
// pages are read at different moments. It ends with the first error, such as that of ctx.
func EachDefinition(ctx context.Context, d Definitions, q DefinitionQuery) iter.Seq2[Definition, error] {
	return pages(q.Limit, PageRecords, func(limit int, last *Definition) ([]Definition, error) {
		if q.Limit = limit; last != nil {
			q.After = last
		}
		return d.Definitions(ctx, q)
	})
}

// EachAtom reads the atoms that a query selects, page by page, up to q.Limit. The pages are read at different
// moments: if the run continues meanwhile, atoms that were added may be missing. EachAtom ends with the first
// error, such as that of ctx.
func EachAtom(ctx context.Context, r Reader, run string, q AtomQuery) iter.Seq2[Atom, error] {
	return pages(q.Limit, PageRecords, func(limit int, last *Atom) ([]Atom, error) {
		q.Limit = limit
		if last != nil {
			q.After = last.Path
		}
		return r.Atoms(ctx, run, q)
	})
}

// EachEntry reads the entries of a run's history with numbers above after, page by page. It ends with the first
// error, such as that of ctx.
func EachEntry(ctx context.Context, r Reader, run string, after int64) iter.Seq2[Entry, error] {
	return pages(0, PageRecords, func(limit int, last *Entry) ([]Entry, error) {
		if last != nil {
			after = last.Seq
		}
		return r.History(ctx, run, after, limit)
	})
}

// EachEvent reads the events of a run's language that a query selects, page by page, up to q.Limit. If the run
// continues meanwhile, events that were added may be missing. EachEvent ends with the first error, such as that of ctx.
func EachEvent(ctx context.Context, r Reader, run string, q EventQuery) iter.Seq2[Entry, error] {
	return pages(q.Limit, PageRecords, func(limit int, last *Entry) ([]Entry, error) {
		if q.Limit = limit; last != nil {
			if q.After = last.Number; q.Reverse && q.After == 1 {
				return nil, nil
			}
		}
		return r.Events(ctx, run, q)
	})
}

// EachUndo reads entries of a run's undo stack from the top, page by page. If below is not 0, it reads only entries
// with smaller numbers. It ends with the first error, such as that of ctx.
func EachUndo(ctx context.Context, r Reader, run string, below int64) iter.Seq2[Undo, error] {
	return pages(0, PageRecords, func(limit int, last *Undo) ([]Undo, error) {
		if last != nil {
			if below = last.N; below == 1 {
				return nil, nil
			}
		}
		return r.Undos(ctx, run, below, limit)
	})
}

// pages yields the records that read returns, up to limit, or all if limit is 0. A page has up to most records. Each
// call of read receives the last record of the previous page. An empty page is the last one.
func pages[T any](limit, most int, read func(limit int, last *T) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last *T
		for n := 0; limit == 0 || n < limit; {
			size := most
			if limit > 0 {
				size = min(size, limit-n)
			}
			page, err := read(size, last)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			last, n = &page[len(page)-1], n+len(page)
		}
	}
}
