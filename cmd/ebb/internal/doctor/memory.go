package doctor

import (
	"fmt"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/memorybudget"
)

// memory reports the memory budget of a process that is started like this one.
func (d *doctor) memory(limit memorybudget.Limit, budget int64) {
	const do = "set --memory to three fifths of the limit or less, so that memory is left for garbage, SQLite and the " +
		"programs of tasks"
	within := "no limit of a control group"
	if limit.Bytes > 0 {
		within = fmt.Sprintf("a limit of %s (%s)", view.Size(limit.Bytes), limit.File)
	}
	switch {
	case budget == 0 && limit.Bytes > 0:
		d.findf("memory", Warning, "leave out --memory off, or set a size",
			"%s, and no budget: the system may kill the process and all runs in it", within)
	case budget == 0:
		d.findf("memory", OK, "", "%s, and no budget", within)
	case limit.Bytes > 0 && memorybudget.Ceiling(budget) > limit.Bytes:
		d.findf("memory", Warning, do, "%s, and a budget of %s: the system may kill the process before it is reached", within,
			view.Size(budget))
	default:
		d.findf("memory", OK, "", "%s, and a budget of %s, beyond which a process takes up no more work", within,
			view.Size(budget))
	}
}
