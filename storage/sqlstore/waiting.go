package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/waiting"
)

// AwaitEnd implements [backend.Waiting.AwaitEnd].
func (s *store) AwaitEnd(ctx context.Context, run string) (storage.Run, error) {
	return s.hub.AwaitEnd(ctx, run, s.Run)
}

// AwaitToken implements [backend.Waiting.AwaitToken].
func (s *store) AwaitToken(ctx context.Context, t storage.WorkRequest, wait time.Duration,
	enough <-chan struct{},
) (storage.Token, error) {
	return s.hub.AwaitToken(ctx, t, wait, enough, s.TakeToken)
}

// AwaitWork implements [backend.Waiting.AwaitWork].
func (s *store) AwaitWork(ctx context.Context, t storage.WorkRequest, wait time.Duration, enough <-chan struct{},
	take func(context.Context) error,
) error {
	return s.hub.AwaitWork(ctx, t, wait, enough, take)
}

// Pollers implements [backend.Waiting.Pollers].
func (s *store) Pollers() []storage.Poller { return s.hub.Pollers(time.Now()) }

var (
	// selectRunning starts with the ids: CROSS JOIN keeps SQLite from changing the order.
	selectRunning = statement{
		onSQLite: `SELECT o.id FROM json_each($1) j CROSS JOIN origins o ON o.id = j.value CROSS JOIN runs r ON r.n = o.n
WHERE r.class < ` + openClasses,
		onPostgres: `SELECT o.id FROM origins o JOIN runs r ON r.n = o.n
WHERE o.id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON)))) AND r.class < ` + openClasses,
	}
	// selectQueued looks for one token in each queue. Without OFFSET, PostgreSQL would read the tokens of all queues.
	selectQueued = statement{
		onSQLite: `SELECT j.value FROM json_each($1) j WHERE EXISTS (` + queuedIn + `j.value` + inQueue(`$2`) + `)`,
		onPostgres: `SELECT j.value FROM json_array_elements_text(CAST($1 AS JSON)) j WHERE EXISTS (` +
			queuedIn + `j.value` + inQueue(serverNow) + ` OFFSET 0)`,
	}
)

const queuedIn = `SELECT 1 FROM tokens WHERE queue = `

// A waitingSource tells the hub of a store what other processes have done.
type waitingSource struct{ *store }

var _ waiting.Source = waitingSource{}

// Running implements [waiting.Source].
func (s waitingSource) Running(ctx context.Context, runs []string) (running []string, err error) {
	list, err := json.Marshal(runs)
	if err != nil {
		return nil, err
	}
	err = s.glance(ctx, func(r *session) error { return r.All(ctx, &running, selectRunning[r.dialect.db], string(list)) })
	return running, err
}

// Queued implements [waiting.Source].
func (s waitingSource) Queued(ctx context.Context, queues []string) (queued []string, err error) {
	list, err := json.Marshal(queues)
	if err != nil {
		return nil, err
	}
	err = s.glance(ctx, func(r *session) error {
		return r.All(ctx, &queued, selectQueued[r.dialect.db], r.dialect.untilNow(string(list))...)
	})
	return queued, err
}

// Foreign implements [waiting.Source]. On a server it asks the other processes to notify this one.
func (s waitingSource) Foreign() <-chan struct{} {
	foreign := s.notifier.Foreign()
	if s.leaseRenewer != nil {
		s.leaseRenewer.listens()
	}
	return foreign
}

// Rest implements [waiting.Source].
func (s waitingSource) Rest() { s.notifier.Rest() }
