package swf

import (
	"context"
	"sync"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/storage"
)

// An admission bounds the number of open executions of each domain. To count them costs time that grows with their
// number. So the server counts them, and then admits half of what is left of the quota before it counts them again.
// If several servers admit executions at the same time, a domain may get more than its quota, but not twice as many.
type admission struct {
	mu   sync.Mutex
	left map[string]int64 // executions that each domain may start before they are counted again
}

// admit returns LimitExceededFault if a domain cannot have more open executions.
func (s *Server) admit(ctx context.Context, d *domain, more int64) error {
	most, limited := s.quotas.Value(QuotaOpenExecutions)
	if !limited || s.admission.take(d.Name, more) {
		return nil
	}
	open, err := s.store.CountRuns(ctx, storage.RunQuery{
		Labels: label(swf.LabelDomain, d.Name), States: openStates, Limit: int(most),
	})
	if err != nil {
		return err
	}
	if err := s.quotas.Within(QuotaOpenExecutions, int64(open)+more, limitExceeded); err != nil {
		return err
	}
	s.admission.give(d.Name, (most-int64(open)-more)/2) //nolint:mnd // half, as the type says
	return nil
}

func (a *admission) take(domain string, more int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left[domain] < more {
		return false
	}
	a.left[domain] -= more
	return true
}

func (a *admission) give(domain string, left int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left == nil {
		a.left = map[string]int64{}
	}
	a.left[domain] = left
}
