package engine

import "github.com/ebbflow/ebb/storage"

// room returns an empty checkpoint, with the room of a run that is over, if there
// is one: most runs of an engine need about as much.
func (e *Engine) emptyCheckpoint() storage.Checkpoint {
	if cp, ok := e.rooms.Get().(*storage.Checkpoint); ok {
		return *cp
	}
	return storage.Checkpoint{}
}

// returnBuffers leaves the room of the run's checkpoints to another run.
func (d *driver) returnBuffers() {
	empty(&d.cp)
	cp := d.cp
	d.cp = storage.Checkpoint{}
	d.e.rooms.Put(&cp)
}

// empty takes everything out of a checkpoint and keeps the room of what nearly
// all checkpoints hold, which is zeroed. It goes field by field: while the
// collector runs, replacing the whole costs several times as much.
func empty(cp *storage.Checkpoint) {
	cp.Atoms, cp.History, cp.Payloads = emptied(cp.Atoms), emptied(cp.History), emptied(cp.Payloads)
	cp.Push, cp.Timers = emptied(cp.Push), emptied(cp.Timers)
	cp.Input, cp.Structure, cp.Forget, cp.Pop, cp.Tokens, cp.Taken = nil, "", nil, 0, nil, nil
	cp.Outbox, cp.Children, cp.Messages, cp.Labels, cp.Job = nil, nil, nil, nil, nil
	cp.Head, cp.Untold = storage.Head{}, 0
}

func emptied[T any](list []T) []T {
	clear(list)
	return list[:0]
}

// extend makes a list longer by one, which is zero, and returns that.
func extend[T any](list *[]T) *T {
	if n := len(*list); n < cap(*list) { // it was zeroed when the list was emptied
		*list = (*list)[:n+1]
	} else {
		var zero T
		*list = append(*list, zero)
	}
	return &(*list)[len(*list)-1]
}
