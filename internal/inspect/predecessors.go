package inspect

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// fromPlan determines from the plan which atoms come before an atom.
func (x *explanation) fromPlan() (err error) {
	x.input, err = x.run.Input.Data.Fields()
	x.order = make(map[string]int, len(x.plan.Atoms))
	for i := range x.plan.Atoms {
		x.order[x.plan.Atoms[i].Name()] = i
	}
	x.before = func(path string) []string { return x.atomsBefore(x.plan.Atoms[x.order[path]].Node) }
	return err
}

// atomsBefore returns the atoms directly before a node of the plan.
func (x *explanation) atomsBefore(node int32) []string {
	var found []int32
	seen := map[int32]bool{}
	for work := slices.Clone(x.plan.Pred(node)); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if at := x.plan.Nodes[n].Atom; at >= 0 {
			found = append(found, at)
		} else {
			work = append(work, x.plan.Pred(n)...)
		}
	}
	slices.Sort(found)
	names := make([]string, len(found))
	for i, at := range found {
		names[i] = x.plan.Atoms[at].Name()
	}
	return names
}

// remembered is the number of steps whose predecessors are kept: the steps that started last.
//
//limit:shown steps remembered to explain a failure (`inspect.Explain`) | {} | left out
const remembered = 1000

// fromHistory determines from the history which atom comes before an atom: the atom that ended last in the same
// flow before it started. For the first atoms of a branch, it is the fork.
func (x *explanation) fromHistory() error {
	x.order = map[string]int{}
	before := map[string][]string{}
	x.before = func(path string) []string { return before[path] }
	last := map[string]string{} // what ended last, by the path of the flow
	var begun []string          // in their order
	for e, err := range storage.EachEntry(x.ctx, x.store, x.run.ID, 0) {
		if err != nil {
			return err
		}
		if e.Kind != storage.EntryAtom || e.Path == flow.GrowingPath || isBranch(e.Path) {
			continue
		}
		in := e.Path[:max(strings.LastIndexByte(e.Path, '/'), 0)]
		switch states.Task(e.To) {
		case states.TaskRunning:
			if _, begun := x.order[e.Path]; begun {
				continue
			}
			x.order[e.Path] = int(e.Seq)
			if prev, ok := last[in]; ok {
				before[e.Path] = []string{prev}
			} else if open := strings.LastIndexByte(in, '['); open > 0 {
				before[e.Path] = []string{in[:open]}
			}
			if begun = append(begun, e.Path); len(begun) > 2*remembered {
				for _, path := range begun[:remembered] {
					delete(x.order, path)
					delete(before, path)
				}
				begun = slices.Clone(begun[remembered:])
			}
		case states.TaskSuccess, states.TaskFailure, states.TaskCancelled:
			last[in], x.last = e.Path, e.Path
		default:
		}
		if len(last) > remembered {
			clear(last)
		}
	}
	return nil
}

// isBranch reports whether a path is the path of a branch or an iteration, such as Fork[2], which only contains
// others.
func isBranch(path string) bool {
	fork, _, ok := nodepath.CutIndex(path)
	return ok && fork != ""
}
