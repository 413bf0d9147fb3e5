package engine_test

import (
	"context"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A leavingOwner is a store in which the owner of each run ends the run, and then itself, after the run was first read.
type leavingOwner struct {
	backend.Store

	reads int
}

func (s *leavingOwner) Run(context.Context, string) (storage.Run, error) {
	if s.reads++; s.reads == 1 {
		return storage.Run{ID: "r", State: states.FlowRunning, Owner: "gone"}, nil
	}
	return storage.Run{ID: "r", State: states.FlowFailure}, nil
}

// TestWhileOwnedSeesTheEnd waits for a run whose process ends the run and exits while the wait looks.
func TestWhileOwnedSeesTheEnd(t *testing.T) {
	t.Parallel()
	run, err := engine.WhileOwned(t.Context(), &leavingOwner{Store: memstore.New()}, "r")
	if err != nil || run.State != states.FlowFailure {
		t.Errorf("the run is %v, %v", run.State, err)
	}
}
