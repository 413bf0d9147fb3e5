package storage_test

import (
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestStatus: a state of TaskFlow's revert is shown only of an atom that something reverts. What nothing reverts
// stays done if it had its effect, and may stay done if that is not known.
//
// Guarantee (G4): No view shows an atom without Revert as undone: it *stays done*, or may.
// Also: `engine: TestStaysDone`, `TestMayStayDone`, `TestStaysDoneOfEarlier`, `TestStaysDoneGrowing`,
// `TestPreviewStaysDone`, `cmd/ebb: TestScripts/stays`.
func TestStatus(t *testing.T) {
	t.Parallel()
	declined, late := &atom.Failure{Code: "Declined"}, &atom.Failure{Code: atom.CodeTimeout}
	const back = states.IntendRevert
	grown := atom.MustEncode(grow.Spec{})
	for _, test := range []struct {
		what string
		atom storage.Atom
		want storage.Status
	}{
		{"goes forward", storage.Atom{State: states.TaskSuccess, Undo: storage.UndoLeaves, Ended: grow.EndValue, Attempt: 1}, "SUCCESS"},
		{"is reverted", storage.Atom{State: states.TaskReverted, Intention: back, Ended: grow.EndValue, Attempt: 1}, "REVERTED"},
		{"of an older version", storage.Atom{State: states.TaskReverted}, "REVERTED"},
		{"succeeded", storage.Atom{State: states.TaskReverted, Undo: storage.UndoLeaves, Ended: grow.EndValue, Attempt: 1}, storage.StatusStaysDone},
		{"is passed", storage.Atom{State: states.TaskReverting, Undo: storage.UndoLeaves, Ended: grow.EndValue, Attempt: 1}, storage.StatusStaysDone},
		{"of a language", storage.Atom{Spec: grown, State: states.TaskSuccess, Intention: back, Undo: storage.UndoLeaves, Ended: grow.EndValue, Attempt: 1}, storage.StatusStaysDone},
		{"is not reached yet", storage.Atom{State: states.TaskSuccess, Intention: back, Undo: storage.UndoLeaves, Ended: grow.EndValue, Attempt: 1}, "SUCCESS"},
		{"failed", storage.Atom{State: states.TaskReverted, Undo: storage.UndoLeaves, Ended: grow.EndFailure, Failure: declined, Attempt: 1}, "FAILURE"},
		{"took too long", storage.Atom{State: states.TaskReverted, Undo: storage.UndoLeaves, Ended: grow.EndFailure, Failure: late, Attempt: 1}, storage.StatusMayStayDone},
		{"took too long, and was caught", storage.Atom{Spec: grown, State: states.TaskFailure, Intention: back, Undo: storage.UndoLeaves, Ended: grow.EndHandled, Failure: late, Attempt: 1}, storage.StatusMayStayDone},
		{"was cancelled", storage.Atom{Spec: grown, State: states.TaskCancelled, Intention: back, Undo: storage.UndoLeaves, Attempt: 1}, storage.StatusMayStayDone},
		{"never ran", storage.Atom{State: states.TaskPending, Intention: back, Undo: storage.UndoLeaves}, "PENDING"},
		{"runs still", storage.Atom{State: states.TaskRunning, Intention: back, Undo: storage.UndoLeaves, Attempt: 1}, "RUNNING"},
		{"computed", storage.Atom{State: states.TaskReverted, Undo: storage.UndoNothing, Ended: grow.EndValue, Attempt: 1}, "SUCCESS"},
		{"failed to compute", storage.Atom{State: states.TaskReverted, Undo: storage.UndoNothing, Ended: grow.EndFailure, Failure: late, Attempt: 1}, "FAILURE"},
		{"stopped computing", storage.Atom{State: states.TaskReverted, Undo: storage.UndoNothing, Attempt: 1}, "CANCELLED"},
	} {
		if got := test.atom.Status(); got != test.want {
			t.Errorf("%s: %s; want %s", test.what, got, test.want)
		}
	}
}
