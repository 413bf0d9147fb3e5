package exit

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func TestExitStatus(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{&engine.FailedError{}, 1},
		{errors.New(`unknown flag: --nonsense`), 2},
		{Usagef("wrong"), 2},
		{flow.Problems{}, 2},
		{&storage.OwnedError{}, 2},
		{fmt.Errorf("%w: run x", engine.ErrChanged), 2},
		{&engine.RevertedError{}, 3},
		{&engine.FailedError{UndoFailed: true}, 4},
		{fmt.Errorf("%w: run x", engine.ErrSuspended), 5},
		{engine.ErrStopped, 5},
		{storage.ErrNotFound, 6},
		{&engine.StoreError{Err: storage.ErrNotFound}, 6},
		{DatabaseError(storage.ErrNotFound), 6},
		{&Error{Status: NotFound, Err: errors.New("there is no run x")}, 6},
		{DatabaseError(full), 7},
		{&engine.StoreError{Err: full}, 7},
	}
	for _, test := range tests {
		if got := Of(test.err); got != test.want {
			t.Errorf("%T %v: exit status %d; want %d", test.err, test.err, got, test.want)
		}
	}
}

func TestExpectedStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status int
		state  states.Flow
		want   string
		exit   int
	}{
		{0, states.FlowSuccess, "", 0},
		{3, states.FlowReverted, "", 3},
		{3, states.FlowReverted, "REVERTED", 0},
		{5, states.FlowSuspended, "SUSPENDED", 0},
		{4, states.FlowFailure, "REVERTED", 4},
		{0, states.FlowSuccess, "REVERTED", 1},
	}
	for _, test := range tests {
		aim := Expect(test.want)
		if got := aim.Status(test.status, &storage.Run{State: test.state}); got != test.exit {
			t.Errorf("%+v: exit status %d", test, got)
		}
	}
}
