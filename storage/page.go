package storage

import (
	"context"
	"iter"
)

// Runs may be larger than memory, so what belongs to a run is read in pages. A store ends a
// page early, though never before its first record, when the values in it reach PageBytes.
const (
	// PageRecords is how many records [EachAtom], [EachEntry] and [EachUndo] read at a time.
	PageRecords = 2000
	// PageBytes is how many bytes of values a page with a limit holds, exceeded by the last
	// record at most.
	PageBytes = 4 << 20
)

// EachAtom reads the atoms that a query selects, page by page; their number is q.Limit at
// most. The pages are not of one moment: of a run that moves on, atoms made meanwhile may be
// missing. It ends with the first error, such as that of ctx.
func EachAtom(ctx context.Context, r Reader, run string, q AtomQuery) iter.Seq2[Atom, error] {
	return pages(q.Limit, func(limit int, last *Atom) ([]Atom, error) {
		q.Limit = limit
		if last != nil {
			q.After = last.Path
		}
		return r.Atoms(ctx, run, q)
	})
}

// EachEntry reads the entries of a run's history with numbers above after, page by page. It
// ends with the first error, such as that of ctx.
func EachEntry(ctx context.Context, r Reader, run string, after int64) iter.Seq2[Entry, error] {
	return pages(0, func(limit int, last *Entry) ([]Entry, error) {
		if last != nil {
			after = last.Seq
		}
		return r.History(ctx, run, after, limit)
	})
}

// EachUndo reads the entries of a run's undo stack with numbers below below, or with 0 all of
// it, from the top, page by page. It ends with the first error, such as that of ctx.
func EachUndo(ctx context.Context, r Reader, run string, below int64) iter.Seq2[Undo, error] {
	return pages(0, func(limit int, last *Undo) ([]Undo, error) {
		if last != nil {
			if below = last.N; below == 1 {
				return nil, nil
			}
		}
		return r.Undos(ctx, run, below, limit)
	})
}

// pages yields what read returns, up to limit records, or all with limit 0. Each call of read
// is given the last record before its page, and a page that is empty is the last.
func pages[T any](limit int, read func(limit int, last *T) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last *T
		for n := 0; limit == 0 || n < limit; {
			size := PageRecords
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
