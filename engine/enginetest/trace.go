package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/failat"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Trace returns the state changes of a run and of its atoms, one per line, to compare with a golden
// text:
//
//	checkout PENDING -> RUNNING
//	charge PENDING -> RUNNING
//	charge RUNNING -> FAILURE  Card.Declined: there is no money on it
//
// The run has the name of its flow. An atom that a retry has begun anew has the
// number of that beginning behind it, as in charge@2. Times and values are left
// out, and so is a language's own history. Trace fails the test when the run
// cannot be read.
func Trace(tb testing.TB, store storage.Reader, run string) string {
	tb.Helper()
	head, entries, ok := history(tb, store, run)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, e := range entries {
		switch e.Kind {
		case storage.EntryFlow:
			fmt.Fprintf(&b, "%s %v -> %v", head.Flow, states.Flow(e.From), states.Flow(e.To))
		case storage.EntryAtom:
			fmt.Fprintf(&b, "%s %v -> %v", failat.Incarnation(e.Path, e.Incarnation), states.Task(e.From), states.Task(e.To))
		default:
			continue
		}
		if e.Failure != nil {
			why := *e.Failure
			why.Atom = ""
			b.WriteString("  " + why.Error())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Undone fails the test unless these tasks, and no others, were undone, in this
// order. A task that was undone twice, as two incarnations, is named twice.
// Tasks without a Revert do not count: what they did stays done.
func Undone(tb testing.TB, store storage.Reader, run string, tasks ...string) {
	tb.Helper()
	_, entries, ok := history(tb, store, run)
	if !ok {
		return
	}
	atoms, err := store.Atoms(context.Background(), run, storage.AtomQuery{})
	if err != nil {
		tb.Errorf("run %q cannot be read: %v", run, err)
		return
	}
	isTask := map[string]bool{}
	for _, a := range atoms {
		isTask[a.Path] = a.Kind == storage.KindTask && !a.UndoPasses()
	}
	var got []string
	for _, e := range entries {
		if e.Kind == storage.EntryAtom && states.Task(e.To) == states.TaskReverted && isTask[e.Path] {
			got = append(got, e.Path)
		}
	}
	if have, want := failat.OrNone(got), failat.OrNone(tasks); have != want {
		tb.Errorf("of run %q were undone, in this order:\n    %s\nand not:\n    %s", run, have, want)
	}
}

func history(tb testing.TB, store storage.Reader, run string) (storage.Run, []storage.Entry, bool) {
	tb.Helper()
	ctx := context.Background()
	head, err := store.Run(ctx, run)
	if err != nil {
		tb.Errorf("run %q cannot be read: %v", run, err)
		return head, nil, false
	}
	entries, err := store.History(ctx, run, 0, 0)
	if err != nil {
		tb.Errorf("the history of run %q cannot be read: %v", run, err)
	}
	return head, entries, err == nil
}
