package checkpoint

import (
	"sync"

	"github.com/ebbflow/ebb/internal/backend"
)

// Buffers keeps the buffers of runs that have ended for other runs, because most runs of an engine need about as
// much space.
type Buffers struct{ pool sync.Pool }

// Lend gives a new draft buffers, if there are any.
func (b *Buffers) Lend(d *Draft) {
	if cp, ok := b.pool.Get().(*backend.Checkpoint); ok {
		d.Checkpoint = *cp
	}
}

// Return takes the buffers of a draft. Only the draft's head remains.
func (b *Buffers) Return(d *Draft) {
	head := d.Head
	empty(&d.Checkpoint)
	cp := d.Checkpoint
	d.Checkpoint = backend.Checkpoint{Head: head}
	b.pool.Put(&cp)
}

// empty removes everything from a checkpoint. It zeroes and keeps the buffers that
// nearly all checkpoints use. It works field by field: while the garbage collector
// runs, replacing the whole checkpoint costs several times as much.
func empty(cp *backend.Checkpoint) {
	cp.Atoms, cp.History, cp.Payloads = emptied(cp.Atoms), emptied(cp.History), emptied(cp.Payloads)
	cp.Push, cp.Timers = emptied(cp.Push), emptied(cp.Timers)
	cp.Input, cp.Structure, cp.Forget, cp.Pop, cp.Tokens, cp.Taken = nil, "", nil, 0, nil, nil
	cp.Used, cp.GiveUp = nil, nil
	cp.Outbox, cp.Children, cp.Messages, cp.Labels, cp.Job = nil, nil, nil, nil, nil
	cp.Head, cp.Untold, cp.TakeKey = backend.Head{}, 0, false
}

func emptied[T any](list []T) []T {
	clear(list)
	return list[:0]
}

// extend appends a zero element to a list and returns a pointer to it.
func extend[T any](list *[]T) *T {
	if n := len(*list); n < cap(*list) { // zeroed when the list was emptied
		*list = (*list)[:n+1]
	} else {
		var zero T
		*list = append(*list, zero)
	}
	return &(*list)[len(*list)-1]
}
