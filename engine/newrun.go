package engine

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
)

// A NewRun is a run that does not exist yet. Create one with [Engine.NewRun] or [Server.NewRun]. [Server.Serve] and
// [Server.Start] create the run with its first commit, so a stored run has already started. If a limit is reached,
// they create the run as due and do not start it.
type NewRun struct {
	backend.Due
	// Refused is called with the reason if the run was not created, or not started. Serve logs the error that it
	// returns. It may be nil. The store's errors are *[StoreError]. Start does not call it.
	Refused func(ctx context.Context, why error) error

	tried time.Duration   // how long the run is isolated; 0 means that it is not
	taken bool            // take the run over first, if Due has not
	since inbox.Mark      // read before the run was taken over
	first *acknowledgment // of a run of Start; nil otherwise
}

// NewRun returns a new run of a flow that the server's catalog has, for a [Source] or for [Server.Start]. It is
// cheaper than an [Engine] for each flow. Symbols that no atom of the flow provides are inputs of the run. If the
// catalog has the flow as a stored definition, pass [OnDefinition]. NewRun returns the problems of the flow as
// [flow.Problems], and the errors of [Engine.NewRun].
func (s *Server) NewRun(root flow.Node, id string, opts ...RunOption) (NewRun, error) {
	p, err := s.engine.compile(root)
	if err != nil {
		return NewRun{}, err
	}
	return s.engine.newRun(p, id, opts)
}

// isOwned reports whether this process owns the run already. A claim that begins with the first commit owns nothing,
// and a query for crash loops returns no claim.
func (n *NewRun) isOwned() bool { return n.Claim.ID != "" && n.Claim.Begins == 0 }

// create creates the run as due.
func (n *NewRun) create(ctx context.Context, store backend.Store) error {
	run := *n.Claim.New
	run.Input.Ref = 0 // the store chooses the payload again
	return session.Wrap(n.Run, store.Create(ctx, run, n.Claim.Checks...))
}

// A Source returns up to free new runs.
type Source func(ctx context.Context, free int) ([]NewRun, error)
