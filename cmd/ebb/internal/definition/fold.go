package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/storage"
)

// mostVisited is how many iterations of states are counted. If a run has more, its picture shows the status of the last
// one.
//
//limit:shown `ebb graph RUN`: iterations of states that are counted | {} | what became of the last one
const mostVisited = 100_000

// A fold counts the statuses of a state in the iterations of a Map, which a picture shows as one node. A later visit in
// the same iteration replaces an earlier one.
type fold struct {
	at   map[visited]string // status of each visited node
	full bool
}

// A visited is a node of a picture in one iteration.
type visited struct{ id, at string }

func (f *fold) add(id, path, status string) {
	above, last := inspect.CutPath(path)
	name, _ := nodepath.CutVisit(last)
	at := visited{id, above + "/" + name}
	if _, known := f.at[at]; !known && len(f.at) >= mostVisited {
		f.full = true
		return
	}
	f.at[at] = status
}

// texts returns the counts by status, and the most important status, of the nodes with at least that many visited
// iterations.
func (f *fold) texts(least int) (counts, worst map[string]string) {
	counts, worst = map[string]string{}, map[string]string{}
	if f.full {
		return counts, worst
	}
	by := map[string]map[string]int{}
	for v, status := range f.at {
		if by[v.id] == nil {
			by[v.id] = map[string]int{}
		}
		by[v.id][status]++
	}
	for id, of := range by {
		order := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
			return inspect.Compare(storage.Status(a), storage.Status(b))
		})
		parts, all := make([]string, len(order)), 0
		for i, status := range order {
			parts[i] = fmt.Sprint(of[status], " ", status)
			all += of[status]
		}
		if all >= least {
			counts[id], worst[id] = strings.Join(parts, ", "), order[0]
		}
	}
	return counts, worst
}
