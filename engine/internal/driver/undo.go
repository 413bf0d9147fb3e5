package driver

import (
	"slices"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// An undoStack lists the atoms that can be undone, newest last.
type undoStack struct {
	size int64
	page []storage.Undo // of the stored entries, newest first
}

// stackPage is how many entries of the undo stack are read at once.
const stackPage = 64

// changeStack changes the undo stack with the next commit.
func (r *run) changeStack(cmd *scheduler.Command) {
	r.next.Dirty = true
	switch cmd.Op {
	case scheduler.PushUndo:
		r.stack.size++
		r.next.Push = append(r.next.Push, storage.Undo{N: r.stack.size, Path: cmd.Node.Path})
		r.stack.page = nil // read again when it is needed
	case scheduler.PopUndo:
		r.stack.size--
		r.next.Pop++
	default: // all of it
		r.next.Pop += int(r.stack.size) - len(r.next.Push)
		r.next.Push, r.stack.size, r.stack.page = r.next.Push[:0], 0, nil
	}
}

// index returns the index of an entry in the page that was read; -1 if it is not in the page.
func (u *undoStack) index(n int64) int {
	return slices.IndexFunc(u.page, func(e storage.Undo) bool { return e.N == n })
}
