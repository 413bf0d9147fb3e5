package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

var insertMessage = statement{
	onSQLite: `INSERT INTO messages (run, n, kind, path, incarnation, name, key, body, failure, sent)
SELECT n, wakeups, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE n = ?`,
	onPostgres: `INSERT INTO messages (run, n, kind, path, incarnation, name, key, body, failure, sent)
SELECT n, wakeups, $1, $2, $3, $4, $5, $6, $7, $8 FROM runs WHERE n = $9`,
}

const (
	insertKey = `INSERT INTO message_keys (run, key) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	// wakeRun increments the wakeup counter, and makes a run without an owner due.
	wakeRun = `UPDATE runs SET wakeups = wakeups + 1,
  due = CASE WHEN owner = '' AND (due IS NULL OR due > $1) THEN $1 ELSE due END
WHERE n = $2`
	selectMessages = `SELECT n, kind, path, incarnation, name, key, body, failure, sent FROM messages WHERE run = $1
		AND n > $2 ORDER BY n LIMIT $3`
	selectWakeups = `SELECT wakeups FROM runs WHERE n = $1`
	deleteMessage = `DELETE FROM messages WHERE run = $1 AND n = $2`
)

// deliver inserts a message into the inbox of run n, unless the run has had a message with the same key.
func deliver(ctx context.Context, w *session, n int64, l *storage.Message) error {
	if l.Key != "" {
		fresh, err := w.Exec(ctx, insertKey, n, l.Key)
		if err != nil || fresh == 0 {
			return err
		}
	}
	now := time.Now()
	if err := w.Post(ctx, nil, wakeRun, micros(now), n); err != nil {
		return err
	}
	return w.Post(ctx, nil, insertMessage[w.dialect.db], string(l.Kind), l.Path, l.Incarnation, l.Name, l.Key,
		[]byte(l.Body), codec.EncodeFailure(l.Failure), micros(orNow(l.Sent)), n)
}

// deliverAll delivers messages. If a run does not exist, it drops the message or, if drop is false, returns an
// error.
func deliverAll(ctx context.Context, w *session, messages []storage.Message, drop bool) error {
	for i := range messages {
		if err := w.hold(ctx, messages[i].Run); err != nil {
			return err
		}
		n, err := numberOf(ctx, w, messages[i].Run)
		if drop && errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := deliver(ctx, w, n, &messages[i]); err != nil {
			return err
		}
	}
	return nil
}

// addressees returns the runs that receive messages.
func addressees(messages []storage.Message) []string {
	runs := make([]string, len(messages))
	for i := range messages {
		runs[i] = messages[i].Run
	}
	return runs
}

// Send implements [storage.Inbox.Send].
func (s *Store) Send(ctx context.Context, messages ...storage.Message) error {
	for i := range messages {
		if err := messages[i].Check(); err != nil {
			return err
		}
	}
	return s.update(ctx, &write{
		runs:     addressees(messages),
		do:       func(ctx context.Context, w *session) error { return deliverAll(ctx, w, messages, false) },
		arrivals: wakeup.Moves,
	})
}

func takeMessages(ctx context.Context, w *session, n int64, taken []int64) error {
	for _, message := range taken {
		if err := w.Post(ctx, nil, deleteMessage, n, message); err != nil {
			return err
		}
	}
	return nil
}

func readMessages(ctx context.Context, s *session, n int64, run string, after int64,
	limit int,
) ([]storage.Message, error) {
	var rows []struct {
		N           int64
		Kind        string
		Path        string
		Incarnation int
		Name        string
		Key         string
		Body        []byte
		Failure     []byte
		Sent        moment
	}
	if err := s.All(ctx, &rows, selectMessages, n, after, limit); err != nil {
		return nil, err
	}
	out := make([]storage.Message, len(rows))
	for i, r := range rows {
		failure, err := codec.DecodeFailure(r.Failure)
		if err != nil {
			return nil, fmt.Errorf("%w (message %d of run %q)", err, r.N, run)
		}
		out[i] = storage.Message{
			N: r.N, Run: run, Kind: flow.MessageKind(r.Kind), Path: r.Path, Incarnation: r.Incarnation,
			Name: r.Name, Key: r.Key, Body: r.Body, Failure: failure, Sent: r.Sent.time(),
		}
	}
	return out, nil
}

// These statements are for SQLite; [arrivalTracker] has the ones for PostgreSQL.
const (
	lastArrival = `SELECT coalesce(max(arrival), 0) FROM messages`
	// selectArrivals starts with the messages, which are few, and not with the owner's runs: CROSS JOIN keeps
	// SQLite from changing the order.
	selectArrivals = `SELECT o.id AS run, l.n AS wakeups
FROM messages l CROSS JOIN runs r ON r.n = l.run CROSS JOIN origins o ON o.n = l.run
WHERE l.arrival > $1 AND r.owner = $2 ORDER BY l.arrival`
)

// RunsWithMessages implements [storage.Inbox.RunsWithMessages]. It makes two lookups, and one for each new message
// that is still in an inbox. It also notices if another process declared this owner dead.
func (s *Store) RunsWithMessages(ctx context.Context, since int64) (changed []storage.Arrival, now int64, err error) {
	if s.readOnly {
		return nil, since, nil // this store owns no runs
	}
	if s.leaseRenewer != nil {
		return s.leaseRenewer.arrivals.since(ctx, s, since)
	}
	var messages []storage.Arrival
	err = s.view(ctx, func(r *session) error {
		if err := r.Get(ctx, &now, lastArrival); err != nil {
			return err
		}
		return r.All(ctx, &messages, selectArrivals, since, s.owner.ID)
	})
	if err == nil && s.notifier.Others.Swap(false) { // only another process can have declared this owner dead
		if err = s.reregister(ctx); err != nil {
			s.notifier.Others.Store(true)
		}
	}
	if err != nil {
		return nil, since, err
	}
	return rules.LastArrivals(messages), max(since, now), nil
}

// Messages implements [storage.Inbox.Messages].
func (s *Store) Messages(ctx context.Context, run string,
	after int64,
) (wakeups int64, messages []storage.Message, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		if err := r.Get(ctx, &wakeups, selectWakeups, n); err != nil {
			return err
		}
		messages, err = readMessages(ctx, r, n, run, after, storage.MaxMessages)
		return err
	})
	return wakeups, messages, err
}

// Changed implements [storage.Inbox.Changed]. After a write of this process, the channel is closed at once. After a
// write of another process, it is closed within 50 ms, or within 1 s if no change came for ten minutes. On a
// server, processes notify each other. In case a notification is lost, the channel is also closed about once a
// second.
func (s *Store) Changed() <-chan struct{} { return s.notifier.Changes() }

// Version implements [storage.Inbox.Version]. On a server the number also rises about once a second. If a message
// arrives for a run that is just ending, the number may rise only when the run has ended.
func (s *Store) Version() int64 { return s.notifier.Count.Load() }
