package runfilter

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/storage"
)

// Waiting is [inspect.WaitingOf], with a filter of each group: of all its runs where a filter can say what they wait
// for, and otherwise of those that the group names.
func Waiting(ctx context.Context, store storage.Store, s inspect.WaitingSearch) (inspect.Waiting, error) {
	w, err := inspect.WaitingOf(ctx, store, s)
	for i := range w.Groups {
		switch g := &w.Groups[i]; g.Kind {
		case inspect.WaitsForPerson:
			g.Filter = "is:person"
		case inspect.WaitsForParkedJob: // jobs are no runs
		default:
			g.Filter = ids(g.First)
		}
	}
	return w, err
}

// ids returns the text of the filter of the runs with these ids; "" if there are none.
func ids(runs []string) string {
	if len(runs) == 0 {
		return ""
	}
	texts := make([]string, len(runs))
	for i, id := range runs {
		texts[i] = quote(id, false)
	}
	return `id:` + strings.Join(texts, `,`)
}
