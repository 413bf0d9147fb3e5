package runfilter

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
)

// Waiting is [inspect.WaitingOf], with a filter of each group: of all its runs. For messages that were sent in vain, it
// is a filter of the runs that the group names.
func Waiting(ctx context.Context, store backend.Store, s inspect.WaitingSearch) (inspect.Waiting, error) {
	w, err := inspect.WaitingOf(ctx, store, s)
	for i := range w.Groups {
		switch g := &w.Groups[i]; g.Kind {
		case inspect.WaitsForPerson:
			g.Filter = "is:person"
		case inspect.WaitsForParkedJob, inspect.WaitsForClaimer: // jobs are no runs
		case inspect.WaitsForParked: // the runs may have ended
			g.Filter = ids(g.First)
		default:
			g.Filter = waitsFor(g)
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
