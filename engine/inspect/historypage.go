package inspect

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

// HistoryPage returns up to limit lines of [History], without the events of the run's language, as the console and the
// REST API show them. next is the number after which the next page begins; 0 if there are no more lines.
func HistoryPage(ctx context.Context, store storage.Reader, run *storage.Run, after int64, limit int) (
	entries []Entry, next int64, err error,
) {
	entries = []Entry{}
	for e, err := range History(ctx, store, run, after) {
		switch {
		case err != nil:
			return nil, 0, err
		case e.Kind == storage.EntryEvent:
		case len(entries) == limit:
			return entries, entries[limit-1].Seq, nil
		default:
			entries = append(entries, EntryOf(&run.Secrets, &e))
		}
	}
	return entries, 0, nil
}
