package memstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/internal/waiting"
)

var _ waiting.Source = (*memory)(nil)

// AwaitEnd implements [backend.Waiting.AwaitEnd].
func (m *store) AwaitEnd(ctx context.Context, run string) (storage.Run, error) {
	return m.hub.AwaitEnd(ctx, run, m.Run)
}

// AwaitToken implements [backend.Waiting.AwaitToken].
func (m *store) AwaitToken(ctx context.Context, t storage.WorkRequest, wait time.Duration,
	enough <-chan struct{},
) (storage.Token, error) {
	return m.hub.AwaitToken(ctx, t, wait, enough, m.TakeToken)
}

// AwaitWork implements [backend.Waiting.AwaitWork].
func (m *store) AwaitWork(ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{},
	take func(context.Context) error,
) error {
	return m.hub.AwaitWork(ctx, t, wait, enough, take)
}

// Pollers implements [backend.Waiting.Pollers].
func (m *store) Pollers() []storage.Poller { return m.hub.Pollers(time.Now()) }

// Running implements [waiting.Source].
func (m *memory) Running(_ context.Context, runs []string) (running []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range runs {
		if r := m.runs[id]; r != nil && !r.head.State.Ended() {
			running = append(running, id)
		}
	}
	return running, nil
}

// Queued implements [waiting.Source].
func (m *memory) Queued(_ context.Context, queues []string) (queued []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, queue := range queues {
		for _, id := range m.queues[queue] {
			if t := m.tokens[id]; t != nil && t.State == storage.TokenOpen && takeable(t) && rules.FreeBy(t, now) {
				queued = append(queued, queue)
				break
			}
		}
	}
	return queued, nil
}

// Foreign implements [waiting.Source]. All stores on the records share the hub.
func (m *memory) Foreign() <-chan struct{} { return nil }

// Rest implements [waiting.Source].
func (m *memory) Rest() {}
