package engine

import "github.com/ebbflow/ebb/storage"

// emptyCheckpoint returns an empty checkpoint. It reuses the buffers of a run that
// has ended, if there are any: most runs of an engine need about as much space.
func (e *Engine) emptyCheckpoint() storage.Checkpoint {
	if cp, ok := e.checkpoints.Get().(*storage.Checkpoint); ok {
		return *cp
	}
	return storage.Checkpoint{}
}

// returnBuffers leaves the buffers of the run's checkpoints to another run.
func (d *driver) returnBuffers() {
	empty(&d.cp)
	cp := d.cp
	d.cp = storage.Checkpoint{}
	d.e.checkpoints.Put(&cp)
}

// empty removes everything from a checkpoint. It zeroes and keeps the buffers that
// nearly all checkpoints use. It works field by field: while the garbage collector
// runs, replacing the whole checkpoint costs several times as much.
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
