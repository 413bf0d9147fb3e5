package tasks

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
)

// workerScheme is the prefix of the names of tasks that workers do.
const workerScheme = "worker"

// workersOf returns the body whose calls are work of a kind for workers.
func workersOf(kind string) (atom.Body, error) {
	if kind == "" || len(kind) > backend.MaxID {
		return nil, fmt.Errorf("tasks: %s:%.60s: the kind of work has 1 to %d bytes, such as worker:charge", workerScheme,
			kind, backend.MaxID)
	}
	return atom.Work(kind), nil
}

// Queue implements [atom.Queued]: without a mock, the call is work for workers as without mocks.
func (b mocked) Queue(c *atom.Call) string {
	if q, ok := b.body.(atom.Queued); ok && !b.mocks.covers(c.Path) {
		return q.Queue(c)
	}
	return ""
}
