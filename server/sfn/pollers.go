package sfn

import (
	"context"
	"sync"

	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/aws"
)

// pollers counts the workers that wait for tasks, by the ARN of the activity.
type pollers struct {
	mu    sync.Mutex
	count map[string]int64
}

// begin counts a worker until end is called. It returns AWS's error if too many wait.
func (p *pollers) begin(ctx context.Context, quotas aws.Quotas, activity string) (end func(), err error) {
	leave, ok := server.Poll(ctx)
	if !ok {
		return nil, aws.Errorf("ActivityWorkerLimitExceeded", "Too many workers wait for tasks at this server.")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := quotas.Within(QuotaPollers, p.count[activity]+1, "ActivityWorkerLimitExceeded"); err != nil {
		leave()
		return nil, err
	}
	if p.count == nil {
		p.count = map[string]int64{}
	}
	p.count[activity]++
	return func() {
		leave()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.count[activity]--; p.count[activity] == 0 {
			delete(p.count, activity)
		}
	}, nil
}
