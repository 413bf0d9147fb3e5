package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/storage"
)

const (
	insertKey = `INSERT INTO message_keys (run, key) VALUES (?, ?) ON CONFLICT DO NOTHING`
	// ringRun raises the bell, and makes a run that nobody owns due.
	ringRun = `UPDATE runs SET wakeups = wakeups + 1,
  due = CASE WHEN owner = '' AND (due IS NULL OR due > ?1) THEN ?1 ELSE due END
WHERE n = ?2`
	insertLetter = `INSERT INTO messages (run, n, kind, path, incarnation, name, key, body, failure, sent)
SELECT n, wakeups, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE n = ?`
	selectLetters = `SELECT n, kind, path, incarnation, name, key, body, failure, sent FROM messages WHERE run = ? ORDER BY n`
	selectBell    = `SELECT wakeups FROM runs WHERE n = ?`
	deleteLetter  = `DELETE FROM messages WHERE run = ? AND n = ?`
)

// deliver puts a letter into the box of run n, unless one of its key came before.
func deliver(ctx context.Context, w *session, n int64, l *storage.Letter) error {
	if l.Key != "" {
		fresh, err := w.exec(ctx, insertKey, n, l.Key)
		if err != nil || fresh == 0 {
			return err
		}
	}
	now := time.Now()
	if err := w.post(ctx, nil, ringRun, micros(now), n); err != nil {
		return err
	}
	return w.post(ctx, nil, insertLetter, l.Kind, l.Path, l.Incarnation, l.Name, l.Key,
		[]byte(l.Body), storage.EncodeFailure(l.Failure), micros(orNow(l.Sent)), n)
}

// deliverAll delivers letters; those to runs that are not there are an error, or
// dropped.
func deliverAll(ctx context.Context, w *session, letters []storage.Letter, drop bool) error {
	for i := range letters {
		if err := w.hold(ctx, letters[i].Run); err != nil {
			return err
		}
		n, err := numberOf(ctx, w, letters[i].Run)
		if drop && errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := deliver(ctx, w, n, &letters[i]); err != nil {
			return err
		}
	}
	return nil
}

// addressees returns the runs that letters are to.
func addressees(letters []storage.Letter) []string {
	runs := make([]string, len(letters))
	for i := range letters {
		runs[i] = letters[i].Run
	}
	return runs
}

// Send puts letters into the boxes of runs.
func (s *Store) Send(ctx context.Context, letters ...storage.Letter) error {
	for i := range letters {
		if err := letters[i].Check(); err != nil {
			return err
		}
	}
	return s.update(ctx, &write{
		runs:  addressees(letters),
		do:    func(ctx context.Context, w *session) error { return deliverAll(ctx, w, letters, false) },
		rings: moves,
	})
}

func takeLetters(ctx context.Context, w *session, n int64, taken []int64) error {
	for _, letter := range taken {
		if err := w.post(ctx, nil, deleteLetter, n, letter); err != nil {
			return err
		}
	}
	return nil
}

func readLetters(ctx context.Context, s *session, n int64, run string) ([]storage.Letter, error) {
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
	if err := s.all(ctx, &rows, selectLetters, n); err != nil {
		return nil, err
	}
	out := make([]storage.Letter, len(rows))
	for i, r := range rows {
		failure, err := storage.DecodeFailure(r.Failure)
		if err != nil {
			return nil, fmt.Errorf("%w (letter %d of run %q)", err, r.N, run)
		}
		out[i] = storage.Letter{
			N: r.N, Run: run, Kind: r.Kind, Path: r.Path, Incarnation: r.Incarnation,
			Name: r.Name, Key: r.Key, Body: r.Body, Failure: failure, Sent: r.Sent.time(),
		}
	}
	return out, nil
}

const (
	// selectRung begins with the letters, which are few, and not with the owner's
	// runs: CROSS JOIN keeps SQLite from changing the order.
	selectRung = `SELECT o.id AS run, l.n AS wakeups
FROM messages l CROSS JOIN runs r ON r.n = l.run CROSS JOIN origins o ON o.n = l.run
WHERE l.arrival > ? AND r.owner = ? ORDER BY l.arrival`
)

// Rang returns which of this owner's runs were rung since. Two lookups, and one
// for each letter that came since and is still there. It is here that an owner finds
// out that it was taken for dead.
func (s *Store) Rang(ctx context.Context, since int64) (rung []storage.Ring, now int64, err error) {
	if s.readOnly {
		return nil, since, nil // it owns no runs
	}
	if s.keeper != nil {
		return s.keeper.rings.since(ctx, s, since)
	}
	var letters []storage.Ring
	err = s.view(ctx, func(r *session) error {
		if err := r.get(ctx, &now, r.dialect.rang); err != nil {
			return err
		}
		return r.all(ctx, &letters, selectRung, since, s.owner.ID)
	})
	if err == nil && s.bell.others.Swap(false) { // else nobody can have taken this owner for dead
		if err = s.rise(ctx); err != nil {
			s.bell.others.Store(true)
		}
	}
	if err != nil {
		return nil, since, err
	}
	return storage.LastRings(letters), max(since, now), nil
}

// Bell returns the run's bell and letters.
func (s *Store) Bell(ctx context.Context, run string) (bell int64, letters []storage.Letter, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		if err := r.get(ctx, &bell, selectBell, n); err != nil {
			return err
		}
		letters, err = readLetters(ctx, r, n, run)
		return err
	})
	return bell, letters, err
}
