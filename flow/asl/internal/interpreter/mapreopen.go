package interpreter

import (
	"strconv"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/grow"
)

// A map run whose parent is redriven keeps the children that succeeded. It starts the others again: the engine
// reopens the run of a Standard execution, and an Express execution gets another run.

// redriven prepares a map run to continue. The engine asks by name about each child that was open. redo finds the
// others that did not succeed, one after the other.
func (r *mapRun) redriven() {
	r.Redrives++
	r.Redriven, r.Ended, r.Failing, r.Final = r.Ask.Now, time.Time{}, false, tally{}
	r.Again = tally{r.Begun - r.Open - r.Well.Children, r.Items - r.Held - r.Well.Items}
	details := newDetails()
	details.String("mapRunArn", r.set.ARN)
	details.Number("redriveCount", int64(r.Redrives))
	r.event("MapRunRedriven", ended(details))
	if r.Unread {
		r.All, r.Unread = false, false
	}
	r.Failed, r.Drops, r.Redone, r.Redoes = 0, 0, 0, true
	// All results are written again and replace those of before.
	r.Written, r.Results, r.Sizes, r.Closed, r.Error, r.Cause = 0, nil, [len(files)]int64{}, false, "", ""
	r.set.redrive = r.Redrives
	if r.set.MaxItems < 0 {
		r.refuseMaxItems()
		return
	}
	r.goOn(nil)
}

// startOver starts again a node that was open when the map run ended. Writing results has started anew already.
func (r *mapRun) startOver(node string) {
	switch node {
	case writeNode:
	case readNode:
		r.growth.Again = &grow.Again{}
	default:
		r.growth.Again = &grow.Again{}
		if index, err := strconv.Atoi(node); err == nil {
			r.growth.Again.Child = r.childAgain(index, r.Ask.Cause.Note)
		}
	}
}

// childAgain returns the run that continues a child.
func (r *mapRun) childAgain(index int, note atom.Value) *grow.Child {
	child := r.child(index, int(itemsIn(note)))
	child.Reopen = !r.State.Items.Distributed.Express
	return child
}

// redo starts children again that had ended without success, as slots become free.
func (r *mapRun) redo() {
	for looked := 0; r.Redoes && r.Open < r.set.Slots; r.Redone++ {
		if r.Redone >= r.Begun {
			r.Redoes = false
			return
		}
		if looked++; looked > recallsPerAnswer || len(r.growth.Add) >= childrenPerAnswer {
			r.growth.More = data.Encode(true)
			return
		}
		past, ok := r.recall(r.Redone)
		if !ok || past.Result != nil || past.Open {
			continue
		}
		r.Again.remove(itemsIn(past.Note))
		r.addRun(r.Redone, grow.Spec{Input: past.Input, Note: past.Note, Child: r.childAgain(r.Redone, past.Note)})
	}
}

// discard drops what the answer was about to start, because the map run ends.
func (r *mapRun) discard() {
	if len(r.growth.Add) == 0 {
		return
	}
	r.growth.Add, r.growth.Drop = nil, nil
	b := &r.before
	r.Begun, r.Open, r.Held, r.Items, r.From, r.All = b.Begun, b.Open, b.Held, b.Items, b.From, b.All
	r.Reads, r.Reading, r.Later = b.Reads, b.Reading, b.Later
}
