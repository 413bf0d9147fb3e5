package inspect

import (
	"context"
	"iter"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Summary is a run, with how much it has done and what it still has to send.
type Summary struct {
	Run

	Iterations int64 `json:"iterations"` // steps of its language, or attempts of its plan
	Entries    int64 `json:"entries"`    // lines of history
	Bytes      int64 `json:"bytes"`      // that it has written

	Messages []Message `json:"messages,omitempty"` // that it still has to send
}

// SummaryOf returns a run without secrets.
func SummaryOf(run *storage.Run, messages []Unsent) Summary {
	return Summary{RunOf(run), run.Iterations, run.Entries, run.Bytes, MessagesOf(messages)}
}

// Atoms reads the atoms of a run page by page. The run's own record, which is the run, is left out.
func Atoms(ctx context.Context, store storage.Reader, run *storage.Run) iter.Seq2[Atom, error] {
	return func(yield func(Atom, error) bool) {
		for a, err := range storage.EachAtom(ctx, store, run.ID, storage.AtomQuery{}) {
			if err == nil && a.Path == flow.GrowingPath {
				continue
			}
			if !yield(AtomOf(&run.Secrets, &a), err) {
				return
			}
		}
	}
}

// Undone reads the history of a run page by page for the paths of what was undone, in that order.
func Undone(ctx context.Context, store storage.Reader, run *storage.Run) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for e, err := range storage.EachEntry(ctx, store, run.ID, 0) {
			if (err != nil || beginsUndo(&e)) && !yield(e.Path, err) {
				return
			}
		}
	}
}

// beginsUndo reports whether an entry of a history says that an atom began to be undone.
func beginsUndo(e *storage.Entry) bool {
	from := states.Task(e.From)
	return e.Kind == storage.EntryAtom && e.Path != flow.GrowingPath && states.Task(e.To) == states.TaskReverting &&
		from != states.TaskReverting && from != states.TaskRevertFailure
}
