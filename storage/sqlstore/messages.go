package sqlstore

import (
	"context"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

var insertMessage = statement{
	onSQLite: `INSERT INTO messages (run, n, kind, path, incarnation, name, key, body, failure, sent, sender, receipt,
		note, issuer)
SELECT n, wakeups, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE n = ?`,
	onPostgres: `INSERT INTO messages (run, n, kind, path, incarnation, name, key, body, failure, sent, sender, receipt,
		note, issuer)
SELECT n, wakeups, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM runs WHERE n = $13`,
}

var deleteMessage = statement{
	onSQLite: `DELETE FROM messages WHERE run = ? AND n = ?`,
	onPostgres: `DELETE FROM messages USING unnest($1::bigint[], $2::bigint[]) AS v (run, n)
WHERE messages.run = v.run AND messages.n = v.n`,
}

const (
	insertKey = `INSERT INTO message_keys (run, key) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	// wakeRun increments the wakeup counter, and makes a run without an owner due.
	wakeRun = `UPDATE runs SET wakeups = wakeups + 1,
  due = CASE WHEN owner = '' AND (due IS NULL OR due > $1) THEN $1 ELSE due END
WHERE n = $2`
	selectMessages = `SELECT n, kind, path, incarnation, name, key, body, failure, sent, sender, receipt, note, issuer
		FROM messages WHERE run = $1 AND n > $2 ORDER BY n LIMIT $3`
	countMessages = `SELECT count(*) FROM messages WHERE run = $1`
	selectUnread  = `SELECT n, kind, path, incarnation, name, key, sent, sender, receipt, issuer
		FROM messages WHERE run = $1 ORDER BY n LIMIT $2 + 0`
	selectOpen    = `SELECT r.n, r.state FROM runs r JOIN origins o ON o.n = r.n WHERE o.id = $1`
	selectWakeups = `SELECT wakeups FROM runs WHERE n = $1`
)

// isFresh reports whether run n has had no message with the same key.
func isFresh(ctx context.Context, w *session, n int64, l *storage.Message) (bool, error) {
	if l.Key == "" {
		return true, nil
	}
	fresh, err := w.Exec(ctx, insertKey, n, l.Key)
	return fresh > 0, err
}

// deliver inserts a message into the inbox of run n.
func deliver(ctx context.Context, w *session, n int64, l *storage.Message) error {
	now := w.dialect.Now()
	if err := w.Post(ctx, nil, wakeRun, micros(now), n); err != nil {
		return err
	}
	return w.Post(ctx, nil, insertMessage[w.dialect.db], string(l.Kind), l.Path, l.Incarnation, l.Name, l.Key,
		[]byte(l.Body), codec.EncodeFailure(l.Failure), micros(w.dialect.orNow(l.Sent)), l.From, l.Receipt, []byte(l.Note),
		l.Issuer.Text(), n)
}

const countKey = `SELECT count(*) FROM message_keys k JOIN origins o ON o.n = k.run WHERE o.id = $1 AND k.key = $2`

// Received implements [backend.Inbox.Received].
func (s *store) Received(ctx context.Context, run, key string) (received bool, err error) {
	err = s.view(ctx, func(r *session) error {
		var n int
		err := r.Get(ctx, &n, countKey, run, key)
		received = n > 0
		return err
	})
	return received, err
}

// selectLine finds no parent of a run that was purged.
const selectLine = `WITH RECURSIVE line (n, id, parent, level) AS (
  SELECT n, id, parent, 0 FROM origins WHERE id = $1
  UNION ALL
  SELECT o.n, o.id, o.parent, line.level + 1 FROM line JOIN origins o ON o.id = line.parent
  WHERE line.parent <> '' AND line.level < $2
)
SELECT id, level, EXISTS (SELECT 1 FROM messages m WHERE m.run = line.n
  AND m.kind IN ('` + string(backend.MessageCancel) + `', '` + string(backend.MessageRevert) + `')) AS stops FROM line`

type lineRow struct {
	ID    string
	Level int
	Stops bool
}

// Stopping implements [backend.Inbox.Stopping].
func (s *store) Stopping(ctx context.Context, run string, ancestors int) (line []string, err error) {
	var rows []lineRow
	err = s.glance(ctx, func(r *session) error { return r.All(ctx, &rows, selectLine, run, ancestors) })
	slices.SortFunc(rows, func(x, y lineRow) int { return x.Level - y.Level })
	for _, row := range rows {
		if line = append(line, row.ID); row.Stops {
			return line, err
		}
	}
	return nil, err
}

const selectReceiver = `SELECT o.id AS run, r.state, (SELECT count(*) FROM messages m WHERE m.run = r.n) AS messages,
  (SELECT coalesce(sum(length(m.body)), 0) FROM messages m WHERE m.run = r.n) AS bytes,
  (SELECT s.body FROM records s WHERE s.kind = '` + awaited.RecordKind + `' AND s.key = o.structure) AS awaited
FROM runs r JOIN origins o ON o.n = r.n WHERE r.n = $1`

// readReceiver returns what decides whether run n takes a message that somebody sends. It reads the whole inbox.
func readReceiver(ctx context.Context, w *session, n int64) (*rules.Receiver, error) {
	var r struct {
		Run      string
		State    uint8
		Messages int64
		Bytes    int64
		Awaited  []byte
	}
	if err := w.Get(ctx, &r, selectReceiver, n); err != nil {
		return nil, err
	}
	of := rules.Receiver{Run: r.Run, State: states.Flow(r.State), Messages: r.Messages, Bytes: r.Bytes, Awaited: r.Awaited}
	return &of, nil
}

// receivers has the receivers of a transaction's messages, by the number of their run.
type receivers map[int64]*rules.Receiver

// takes returns why run n does not take a message that somebody sends. If it does, the message counts.
func (of receivers) takes(ctx context.Context, w *session, n int64, l *storage.Message) error {
	r := of[n]
	if r == nil {
		var err error
		if r, err = readReceiver(ctx, w, n); err != nil {
			return err
		}
		of[n] = r
	}
	if err := r.Takes(l); err != nil {
		return err
	}
	r.Messages++
	r.Bytes += int64(len(l.Body))
	return nil
}

// deliverAll delivers messages, unless the run has had a message with the same key. If no run can receive one, it
// returns the message to its sender if it has a receipt. If it has none, deliverAll drops it or, if drop is false,
// returns an error, as it does for a message that the run does not take.
func deliverAll(ctx context.Context, w *session, messages []storage.Message, drop bool) error {
	of := receivers{}
	for i := range messages {
		l := &messages[i]
		n, err := addressee(ctx, w, l)
		if errors.Is(err, storage.ErrNotFound) && l.Receipt != "" {
			back := backend.Returned(l, noReceiver)
			l = &back
			n, err = addressee(ctx, w, l)
		}
		if errors.Is(err, storage.ErrNotFound) && (drop || backend.NeedsOpen(l)) {
			continue
		}
		if err != nil {
			return err
		}
		fresh, err := isFresh(ctx, w, n, l)
		if err == nil && fresh && !drop {
			err = of.takes(ctx, w, n, l)
		}
		if err == nil && fresh {
			err = deliver(ctx, w, n, l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noReceiver is why the store returns a message.
const noReceiver = "no open run has its address"

// addressee returns the number of the run that receives a message, and locks its row. If there is none, it returns
// ErrNotFound.
func addressee(ctx context.Context, w *session, l *storage.Message) (int64, error) {
	if l.ToKey != "" {
		return keyed(ctx, w, l)
	}
	if err := w.hold(ctx, l.Run); err != nil {
		return 0, err
	}
	if !backend.NeedsOpen(l) {
		return numberOf(ctx, w, l.Run)
	}
	var row struct {
		N     int64
		State uint8
	}
	err := w.Get(ctx, &row, selectOpen, l.Run)
	if err == nil && states.Flow(row.State).Ended() {
		err = storage.ErrNotFound
	}
	return row.N, notFound(err, "open run", l.Run)
}

// keyed returns the number of the run that holds the key of a message, and locks its row. While it waits for the lock,
// the key may get another holder.
func keyed(ctx context.Context, w *session, l *storage.Message) (int64, error) {
	var before holder
	for {
		h, err := holderOf(ctx, w, l.ToKey)
		switch {
		case err != nil:
			return 0, err
		case h.ID == "" || l.Run != "" && l.Run != h.ID:
			return 0, notFound(storage.ErrNotFound, "open run with the key", l.ToKey)
		case h == before || !w.dialect.locks:
			return h.N, nil
		}
		if err := w.hold(ctx, h.ID); err != nil {
			return 0, err
		}
		before = h
	}
}

// addressees returns the runs that receive messages by their id.
func addressees(messages []storage.Message) []string {
	runs := make([]string, 0, len(messages))
	for i := range messages {
		if messages[i].Run != "" {
			runs = append(runs, messages[i].Run)
		}
	}
	return runs
}

// Send implements [backend.Inbox.Send].
func (s *store) Send(ctx context.Context, messages ...storage.Message) error {
	for i := range messages {
		if err := backend.CheckMessage(&messages[i]); err != nil {
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
		if err := w.Post(ctx, nil, deleteMessage[w.dialect.db], n, message); err != nil {
			return err
		}
	}
	return nil
}

func readMessages(ctx context.Context, s *session, n int64, run string, after int64,
	limit int,
) ([]storage.Message, error) {
	return intact(ctx, s, messagesOf(run), selectMessages, n, after, limit)
}

type messageRow struct {
	unread

	N           int64
	Kind        string
	Path        string
	Incarnation int
	Name        string
	Key         string
	Body        []byte
	Failure     []byte
	Sent        moment
	Sender      string
	Receipt     string
	Note        []byte
	Issuer      string
}

// messagesOf returns the function that decodes messages to a run.
func messagesOf(run string) func(*messageRow) (storage.Message, error) {
	return func(r *messageRow) (storage.Message, error) {
		failure, err := codec.DecodeFailure(r.Failure)
		return storage.Message{
			N: r.N, Run: run, Kind: grow.MessageKind(r.Kind), Path: r.Path, Incarnation: r.Incarnation,
			Name: r.Name, Key: r.Key, Body: r.Body, Failure: failure, Sent: r.Sent.time(),
			From: r.Sender, Receipt: r.Receipt, Note: r.Note, Issuer: storage.ParseIssuer(r.Issuer),
		}, err
	}
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

type arrivalRow struct {
	unread
	backend.Arrival
}

func (r *arrivalRow) arrival() (backend.Arrival, error) { return r.Arrival, nil }

// RunsWithMessages implements [backend.Inbox.RunsWithMessages]. It makes two lookups, and one for each new message
// that is still in an inbox. It also notices if another process declared this owner dead.
func (s *store) RunsWithMessages(ctx context.Context, since int64) (changed []backend.Arrival, now int64, err error) {
	if s.readOnly {
		return nil, since, nil // this store owns no runs
	}
	if s.leaseRenewer != nil {
		return s.leaseRenewer.arrivals.since(ctx, s, since)
	}
	var messages []backend.Arrival
	err = s.view(ctx, func(r *session) (err error) {
		if err := r.Get(ctx, &now, lastArrival); err != nil {
			return err
		}
		messages, err = readable(ctx, r, (*arrivalRow).arrival, selectArrivals, since, s.owner.ID)
		return err
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

// Messages implements [backend.Inbox.Messages].
func (s *store) Messages(ctx context.Context, run string,
	after int64,
) (wakeups int64, messages []storage.Message, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		if err := r.Get(ctx, &wakeups, selectWakeups, n); err != nil {
			return err
		}
		messages, err = readMessages(ctx, r, n, run, after, backend.MaxMessages)
		return err
	})
	return wakeups, messages, err
}

// Unread implements [backend.Inbox.Unread].
func (s *store) Unread(ctx context.Context, run string, most int) (all int64, first []storage.Message, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		if err := r.Get(ctx, &all, countMessages, n); err != nil || all == 0 {
			return err
		}
		first, err = readableFirst(ctx, r, most, messagesOf(run), selectUnread, n)
		return err
	})
	return all, first, err
}

// Changed implements [backend.Inbox.Changed]. After a write of this process, the channel is closed at once. After a
// write of another process, it is closed within 50 ms, or within 1 s if no change came for ten minutes. On a
// server, processes notify each other. In case a notification is lost, the channel is also closed about once a
// second.
func (s *store) Changed() <-chan struct{} { return s.notifier.Changes() }

// Version implements [backend.Inbox.Version]. On a server the number also rises about once a second. If a message
// arrives for a run that is just ending, the number may rise only when the run has ended.
func (s *store) Version() int64 { return s.notifier.Count.Load() }
