package tasks

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// workerScheme begins the names of tasks that are done by workers.
const workerScheme = "worker"

// workersOf returns the body whose calls are work of a kind for workers.
func workersOf(kind string) (atom.Body, error) {
	if kind == "" || len(kind) > storage.MaxID {
		return nil, fmt.Errorf("tasks: %s:%.60s: the kind of work has 1 to %d bytes, such as worker:charge", workerScheme,
			kind, storage.MaxID)
	}
	return atom.Work(kind), nil
}

// Queue implements [atom.Queued]: what no mock does, is work for workers where it
// would be without mocks.
func (b mocked) Queue(c *atom.Call) string {
	if q, ok := b.body.(atom.Queued); ok && !b.mocks.cover(stateOf(c.Path)) {
		return q.Queue(c)
	}
	return ""
}
