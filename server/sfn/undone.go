package sfn

import (
	"context"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// maxUndone is how many states AWS's clients are told of.
//
//limit:sfn states that `redriveStatusReason` names as undone | {maxUndone} | the last ones are left out
const maxUndone = 100

// undone returns why an execution that Ebb has undone cannot be redriven. It names what was undone, in order, since
// AWS's history has no events for it:
//
//	Execution was undone by Ebb and cannot be redriven. Undone: BookHotel, BookFlight
func (s *Server) undone(ctx context.Context, run *storage.Run) (string, error) {
	var paths []string
	for e, err := range storage.EachEntry(ctx, s.store, run.ID, 0) {
		if err != nil {
			return "", err
		}
		if e.Kind != storage.EntryAtom || states.Task(e.To) != states.TaskReverted || e.Path == "/" {
			continue
		}
		holds := func(path string) bool {
			return strings.HasPrefix(path, e.Path+"/") || strings.HasPrefix(path, e.Path+"[")
		}
		if slices.ContainsFunc(paths, holds) { // a Parallel or Map comes after what is inside
			continue
		}
		if len(paths) == maxUndone {
			paths = append(paths, "…")
			break
		}
		paths = append(paths, e.Path)
	}
	reason := "Execution was undone by Ebb and cannot be redriven"
	if len(paths) > 0 {
		reason += ". Undone: " + strings.Join(paths, ", ")
	}
	return reason, nil
}
