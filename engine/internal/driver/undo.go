package driver

import (
	"slices"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// An undoStack lists the atoms that can be undone, newest last.
type undoStack struct {
	size int64
	page []storage.Undo // a page of stored entries, newest first
}

// stackPage is the number of entries of the undo stack that are read at once.
//
//limit:storage undo stack entries read at once | {} | the next page
const stackPage = 64

// changeStack changes the undo stack with the next commit.
func (r *run) changeStack(cmd *scheduler.Command) {
	r.Draft.Dirty = true
	switch cmd.Op {
	case scheduler.PushUndo:
		r.stack.size++
		r.Draft.Push = append(r.Draft.Push, storage.Undo{N: r.stack.size, Path: cmd.Unit.Path})
		r.stack.page = nil // read again when needed
	case scheduler.PopUndo:
		r.stack.size--
		r.Draft.Pop++
	default: // the whole stack
		r.Draft.Pop += int(r.stack.size) - len(r.Draft.Push)
		r.Draft.Push, r.stack.size, r.stack.page = r.Draft.Push[:0], 0, nil
	}
}

// index returns the index of an entry in the current page; -1 if the page does not contain it.
func (u *undoStack) index(n int64) int {
	return slices.IndexFunc(u.page, func(e storage.Undo) bool { return e.N == n })
}
