package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	insertKey = `INSERT INTO message_keys (run, key) VALUES (?, ?) ON CONFLICT DO NOTHING`
	// wakeRun raises the wakeup counter, and makes a run without an owner due.
	wakeRun = `UPDATE runs SET wakeups = wakeups + 1,
  due = CASE WHEN owner = '' AND (due IS NULL OR due > ?1) THEN ?1 ELSE due END
WHERE n = ?2`
	insertMessage = `INSERT INTO messages (run, n, kind, path, incarnation, name, key, body, failure, sent)
SELECT n, wakeups, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE n = ?`
	selectMessages = `SELECT n, kind, path, incarnation, name, key, body, failure, sent FROM messages WHERE run = ? AND n > ? ORDER BY n LIMIT ?`
	selectWakeups  = `SELECT wakeups FROM runs WHERE n = ?`
	deleteMessage  = `DELETE FROM messages WHERE run = ? AND n = ?`
)

// deliver puts a message into the box of run n, unless one of its key came before.
func deliver(ctx context.Context, w *session, n int64, l *storage.Message) error {
	if l.Key != "" {
		fresh, err := w.exec(ctx, insertKey, n, l.Key)
		if err != nil || fresh == 0 {
			return err
		}
	}
	now := time.Now()
	if err := w.post(ctx, nil, wakeRun, micros(now), n); err != nil {
		return err
	}
	return w.post(ctx, nil, insertMessage, l.Kind, l.Path, l.Incarnation, l.Name, l.Key,
		[]byte(l.Body), codec.EncodeFailure(l.Failure), micros(orNow(l.Sent)), n)
}

// deliverAll delivers messages; those to runs that are not there are an error, or
// dropped.
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

// addressees returns the runs that messages are to.
func addressees(messages []storage.Message) []string {
	runs := make([]string, len(messages))
	for i := range messages {
		runs[i] = messages[i].Run
	}
	return runs
}

// Send puts messages into the boxes of runs.
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
		if err := w.post(ctx, nil, deleteMessage, n, message); err != nil {
			return err
		}
	}
	return nil
}

func readMessages(ctx context.Context, s *session, n int64, run string, after int64, limit int) ([]storage.Message, error) {
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
	if err := s.all(ctx, &rows, selectMessages, n, after, limit); err != nil {
		return nil, err
	}
	out := make([]storage.Message, len(rows))
	for i, r := range rows {
		failure, err := codec.DecodeFailure(r.Failure)
		if err != nil {
			return nil, fmt.Errorf("%w (message %d of run %q)", err, r.N, run)
		}
		out[i] = storage.Message{
			N: r.N, Run: run, Kind: r.Kind, Path: r.Path, Incarnation: r.Incarnation,
			Name: r.Name, Key: r.Key, Body: r.Body, Failure: failure, Sent: r.Sent.time(),
		}
	}
	return out, nil
}

const (
	// selectArrivals begins with the messages, which are few, and not with the owner's
	// runs: CROSS JOIN keeps SQLite from changing the order.
	selectArrivals = `SELECT o.id AS run, l.n AS wakeups
FROM messages l CROSS JOIN runs r ON r.n = l.run CROSS JOIN origins o ON o.n = l.run
WHERE l.arrival > ? AND r.owner = ? ORDER BY l.arrival`
)

// RunsWithMessages returns which of this owner's runs have messages that came since. It
// makes two lookups, and one for each message that came since and is still there. Here
// an owner finds out that it was taken for dead.
func (s *Store) RunsWithMessages(ctx context.Context, since int64) (changed []storage.Arrival, now int64, err error) {
	if s.readOnly {
		return nil, since, nil // it owns no runs
	}
	if s.leaseRenewer != nil {
		return s.leaseRenewer.arrivals.since(ctx, s, since)
	}
	var messages []storage.Arrival
	err = s.view(ctx, func(r *session) error {
		if err := r.get(ctx, &now, r.dialect.lastVisible); err != nil {
			return err
		}
		return r.all(ctx, &messages, selectArrivals, since, s.owner.ID)
	})
	if err == nil && s.notifier.Others.Swap(false) { // else no other process can have taken this owner for dead
		if err = s.reregister(ctx); err != nil {
			s.notifier.Others.Store(true)
		}
	}
	if err != nil {
		return nil, since, err
	}
	return rules.LastArrivals(messages), max(since, now), nil
}

// Messages returns the run's wakeup counter, and a page of its messages.
func (s *Store) Messages(ctx context.Context, run string, after int64) (wakeups int64, messages []storage.Message, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		if err := r.get(ctx, &wakeups, selectWakeups, n); err != nil {
			return err
		}
		messages, err = readMessages(ctx, r, n, run, after, storage.MaxMessages)
		return err
	})
	return wakeups, messages, err
}

// Changed returns a channel that is closed when something may have come: at once
// for what this process writes, within 50 ms for what another does; within 1 s
// when nothing has come for ten minutes. On a server, other processes notify of
// what they write; should that be lost, the channel is closed within about 1 s all
// the same, and closed without cause about once in a second.
func (s *Store) Changed() <-chan struct{} { return s.notifier.Changes() }

// Version returns how often messages may have come, or runs may have become due. On a server
// it rises about once in a second whatever came. A message that comes to a run that is
// just being ended may be noticed only then.
func (s *Store) Version() int64 { return s.notifier.Count.Load() }
