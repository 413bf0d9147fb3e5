package inspect

import (
	"context"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// HistoryPage returns up to limit lines, or fewer if they have [storage.PageBytes], of [History], without the events of
// the run's language, as the console and the REST API show them. next is the number after which the next page begins; 0
// if there are no more lines. It reads the lines of the page, and the atoms that it needs to know which lines to leave
// out, however large the run is.
func HistoryPage(ctx context.Context, store backend.Reader, run *storage.Run, after int64, limit int) (
	entries []Entry, next int64, err error,
) {
	entries = []Entry{}
	for bytes := 0; ; {
		page, err := store.History(ctx, run.ID, after, min(2*limit+1, storage.PageRecords))
		if err != nil || len(page) == 0 {
			return entries, 0, err
		}
		l, err := linesAmong(ctx, store, run, page)
		if err != nil {
			return nil, 0, err
		}
		for i := range page {
			switch e := &page[i]; {
			case e.Kind == storage.EntryEvent || l.hides(e):
			case len(entries) == limit || bytes >= storage.PageBytes:
				return entries, entries[len(entries)-1].Seq, nil
			default:
				entries = append(entries, EntryOf(&run.Secrets, e))
				bytes += codec.SizeOfEntry(e)
			}
		}
		after = page[len(page)-1].Seq
	}
}

// EventPage returns up to limit events of the run's language, or fewer as [HistoryPage] does, from its history, after
// the line with a number. next is the number after which the next page begins; 0 if there are no more events.
func EventPage(ctx context.Context, store backend.Reader, run *storage.Run, after int64, limit int) (
	_ []Event, next int64, err error,
) {
	events, last, bytes := []Event{}, after, 0
	for e, err := range storage.EachEntry(ctx, store, run.ID, after) {
		switch {
		case err != nil:
			return nil, 0, err
		case e.Kind != storage.EntryEvent:
		case len(events) == limit || bytes >= storage.PageBytes:
			return events, last, nil
		default:
			events, last = append(events, EventOf(&run.Secrets, &e)), e.Seq
			bytes += codec.SizeOfEntry(&e)
		}
	}
	return events, 0, nil
}

// linesAmong is linesOf for these lines only: it reads the atoms that a revert changes.
func linesAmong(ctx context.Context, store backend.Reader, run *storage.Run, page []storage.Entry) (*lines, error) {
	l := &lines{passes: map[string]bool{}}
	if run.Definition != "" {
		return l, nil
	}
	var paths []string
	for i := range page {
		e := &page[i]
		to := states.Task(e.To)
		if e.Kind == storage.EntryAtom && ofRevert(to) && !l.passes[e.Path] {
			l.passes[e.Path] = true // once; the atom decides below
			paths = append(paths, e.Path)
		}
	}
	clear(l.passes)
	if len(paths) == 0 {
		return l, nil
	}
	atoms, err := store.AtomsAt(ctx, run.ID, append(paths, flow.GrowingPath)...)
	if err != nil {
		return nil, err
	}
	for i := range atoms {
		if atoms[i].Path == flow.GrowingPath {
			clear(l.passes) // a growing flow says itself what was not reverted
			break
		}
		if atoms[i].UndoPasses() {
			l.passes[atoms[i].Path] = true
		}
	}
	return l, nil
}
