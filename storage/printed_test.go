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
	} {
		if got := fmt.Sprint(test.of); got != test.want {
			t.Errorf("%T: %q; want %q", test.of, got, test.want)
		}
	}
}
