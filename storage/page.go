package storage

import (
	"context"
	"iter"

	"github.com/ebbflow/ebb/internal/paging"
)

// A run may be larger than memory, so Ebb reads its records in pages. A store ends a page early when the values in
// it reach PageBytes, but a page that is not empty has at least one record.
const (
	// PageRecords is the number of records that [EachAtom], [EachEntry], [EachEvent], [EachUndo] and
	// [EachRecord] read at a time.
	//
	//limit:storage atoms or lines of history read at once (`storage.PageRecords`) | {} | the next page
	PageRecords = 2000
	// PageRuns is the number of records that [EachRun] reads at a time.
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
	return paging.All(ErrCorrupt, q.Limit, PageRuns, func(limit int, last *Run) ([]Run, error) {
		if q.Limit = limit; last != nil {
			q.After = last
		}
		return r.Runs(ctx, q)
	})
}

// EachAtom reads the atoms that a query selects, page by page, up to q.Limit. The pages are read at different
// moments: if the run continues meanwhile, atoms that were added may be missing. EachAtom ends with the first
// error, such as that of ctx.
func EachAtom(ctx context.Context, r Reader, run string, q AtomQuery) iter.Seq2[Atom, error] {
	return paging.All(ErrCorrupt, q.Limit, PageRecords, func(limit int, last *Atom) ([]Atom, error) {
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
	return paging.All(ErrCorrupt, 0, PageRecords, func(limit int, last *Entry) ([]Entry, error) {
		if last != nil {
			after = last.Seq
		}
		return r.History(ctx, run, after, limit)
	})
}

// EachEvent reads the events of a run's language that a query selects, page by page, up to q.Limit. If the run
// continues meanwhile, events that were added may be missing. EachEvent ends with the first error, such as that of ctx.
func EachEvent(ctx context.Context, r Reader, run string, q EventQuery) iter.Seq2[Entry, error] {
	return paging.All(ErrCorrupt, q.Limit, PageRecords, func(limit int, last *Entry) ([]Entry, error) {
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
	return paging.All(ErrCorrupt, 0, PageRecords, func(limit int, last *Undo) ([]Undo, error) {
		if last != nil {
			if below = last.N; below == 1 {
				return nil, nil
			}
		}
		return r.Undos(ctx, run, below, limit)
	})
}

// EachRecord reads the named records that a query selects, page by page, up to q.Limit. The pages are read at different
// moments: records that are written or deleted meanwhile may be missing. EachRecord reads no record twice, unless it is
// ordered by time and the record is deleted and written again. It ends with the first error, such as that of ctx.
func EachRecord(ctx context.Context, r NamedRecords, q RecordQuery) iter.Seq2[NamedRecord, error] {
	return paging.All(ErrCorrupt, q.Limit, PageRecords, func(limit int, last *NamedRecord) ([]NamedRecord, error) {
		if q.Limit = limit; last != nil {
			q.After = last
		}
		return r.NamedRecords(ctx, q)
	})
}
