package storage_test

import (
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestPrinted prints records as short texts, without values and without tokens.
func TestPrinted(t *testing.T) {
	t.Parallel()
	secret := atom.MustEncode("secret")
	run := storage.Run{ID: "r", Flow: "f", Input: storage.Held{Data: secret}, Output: storage.Held{Data: secret}}
	end := func(state states.Flow, outcome storage.Outcome, undo storage.Undone) storage.Run {
		ended := run
		ended.State, ended.Outcome, ended.Undo = state, outcome, undo
		return ended
	}
	a := storage.Atom{Path: "a", State: states.TaskSuccess, Result: storage.Held{Data: secret}}
	job := storage.Job{ID: "j", Flow: "f", State: states.JobComplete, Input: secret}
	token := storage.Token{ID: "secret", Run: "r", Path: "a", Result: secret, Work: secret}
	message := storage.Message{N: 2, Run: "r", Name: "approve", Body: secret}
	for _, test := range []struct {
		want string
		of   any
	}{
		{`run "r" of flow "f": SUCCESS`, end(states.FlowSuccess, storage.Succeeded, storage.UndoNone)},
		{`run "r" of flow "f": REVERTED`, end(states.FlowReverted, storage.FailedOutcome, storage.UndoneAll)},
		{`run "r" of flow "f": REVERTED, timed out`, end(states.FlowReverted, storage.TimedOut, storage.UndoneAll)},
		{`run "r" of flow "f": FAILURE, cancelled`, end(states.FlowFailure, storage.Cancelled, storage.UndoNone)},
		{
			`run "r" of flow "f": FAILURE, partly undone`,
			end(states.FlowFailure, storage.FailedOutcome, storage.UndonePart),
		},
		{
			`run "r" of flow "f": FAILURE, needs a person`,
			end(states.FlowFailure, storage.FailedOutcome, storage.UndoFailed),
		},
		{
			`run "r" of flow "f": SUCCESS, continued by another run`,
			end(states.FlowSuccess, storage.Continued, storage.UndoNone),
		},
		{`atom "a": SUCCESS`, a},
		{`atom "a": SUCCESS`, &a},
		{`job "j" of flow "f": COMPLETE`, job},
		{`token of atom "a" of run "r"`, token},
		{`message 2 "approve" to run "r"`, message},
		{`timed_out partly`, fmt.Sprint(storage.TimedOut, " ", storage.UndonePart)},
		{`Outcome(9) Undone(9)`, fmt.Sprint(storage.Outcome(9), " ", storage.Undone(9))},
		{`value of 9 bytes`, storage.Held{Data: secret}},
		{`payload 3 of 9 bytes`, &storage.Held{Ref: 3, Data: secret}},
		{`4: run: PENDING → RUNNING`, storage.Entry{Seq: 4, Kind: storage.EntryFlow, To: uint8(states.FlowRunning)}},
		{
			`5: atom "a": RUNNING → FAILURE: a: Bad: no`, storage.Entry{
				Seq: 5, Kind: storage.EntryAtom, Path: "a", From: uint8(states.TaskRunning), To: uint8(states.TaskFailure),
				Failure: &atom.Failure{Atom: "a", Code: "Bad", Message: "no"}, Body: storage.Held{Data: secret},
			},
		},
		{`6: atom "a": MAY_STAY_DONE`, storage.Entry{Seq: 6, Kind: storage.EntryMayStay, Path: "a"}},
		{`7: event 3 TaskStarted`, storage.Entry{Seq: 7, Kind: storage.EntryEvent, Number: 3, Type: "TaskStarted"}},
		{`8: command cancel`, &storage.Entry{Seq: 8, Kind: storage.EntryCommand, Type: "cancel"}},
	} {
		if got := fmt.Sprint(test.of); got != test.want {
			t.Errorf("%T: %q; want %q", test.of, got, test.want)
		}
	}
}
