package driver

import (
	"strconv"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// childID returns the id of the run that an attempt of a node starts. Attempts are counted from 1 again in each
// incarnation.
func childID(run, path string, incarnation, attempt int, child *flow.Child) string {
	if child.ID != "" {
		return child.ID
	}
	id := run + "/" + path
	if incarnation > 0 || attempt > 1 {
		id += "@" + strconv.Itoa(attempt)
	}
	if incarnation > 0 {
		id += "." + strconv.Itoa(incarnation+1)
	}
	return nodepath.RunID(id)
}

// plannedChildID returns the id of the run that an attempt of an atom of a plan starts. Attempts are counted from 1
// again in each incarnation.
func plannedChildID(run, path string, incarnation, attempt int) string {
	id := run + "/" + path
	if incarnation > 0 || attempt > 1 {
		id += "@" + strconv.Itoa(incarnation+1)
	}
	if attempt > 1 {
		id += "." + strconv.Itoa(attempt)
	}
	return nodepath.RunID(id)
}
