package swf

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

const (
	// sweepPause is how long the server waits before it looks for executions whose retention period is over.
	sweepPause = 10 * time.Second
	// sweepSize is how many executions one transaction deletes.
	sweepSize = 100
)

// Run deletes closed executions whose retention period is over, until ctx ends. All operations treat such an execution
// as deleted at once. If several servers run, they do the same work without harm.
func (s *Server) Run(ctx context.Context) {
	pause := time.NewTicker(sweepPause)
	defer pause.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.config.Log.Error(logevent.PruneFailed, "error", err)
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

// Sweep deletes the executions of all domains whose retention period is over. [Server.Run] does so now and then.
func (s *Server) Sweep(ctx context.Context) error {
	var failed error
	for record, err := range storage.EachRecord(ctx, s.store, storage.RecordQuery{Kind: domainKind}) {
		if err != nil {
			return errors.Join(failed, err)
		}
		d := &domain{record: record}
		if err := records.Decode(&record, d); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		failed = errors.Join(failed, s.sweepDomain(ctx, d))
	}
	return failed
}

func (s *Server) sweepDomain(ctx context.Context, d *domain) error {
	q := storage.RunQuery{
		Labels: label(swf.LabelDomain, d.Name), States: closedStates, Order: storage.ByEnded, Reverse: true, Brief: true,
		EndedTo: s.config.Now().Add(-d.retention()).Add(time.Microsecond), Limit: sweepSize,
	}
	var failed error // of executions, which does not keep the others
	for ctx.Err() == nil {
		runs, err := s.store.Runs(ctx, q)
		if err != nil || len(runs) == 0 {
			return cmp.Or(failed, err)
		}
		var over []string
		for i := range runs {
			x, ok := executionOf(&runs[i])
			if !ok || x.Domain != d.Name {
				continue
			}
			needed, err := IsBeingUndone(ctx, s.store, &runs[i])
			failed = cmp.Or(failed, err)
			if err == nil && !needed {
				over = append(over, runs[i].ID)
			}
		}
		_, err = s.store.Purge(ctx, over...)
		failed = cmp.Or(failed, err)
		q.After = &runs[len(runs)-1]
	}
	return ctx.Err()
}
