package checkpoint

import (
	"sync"

	"github.com/ebbflow/ebb/storage"
)

// Buffers keep the buffers of runs that have ended for others: most runs of an engine need
// about as much space.
type Buffers struct{ pool sync.Pool }

// Lend gives a new draft buffers, if there are any.
func (b *Buffers) Lend(d *Draft) {
	if cp, ok := b.pool.Get().(*storage.Checkpoint); ok {
		d.Checkpoint = *cp
	}
}

// Return takes the buffers of a draft, which is empty afterwards but for its head.
func (b *Buffers) Return(d *Draft) {
	head := d.Head
	empty(&d.Checkpoint)
	cp := d.Checkpoint
	d.Checkpoint = storage.Checkpoint{Head: head}
	b.pool.Put(&cp)
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
