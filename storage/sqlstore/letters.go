package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

const (
	insertKey = `INSERT INTO letter_keys (run, key) VALUES (?, ?) ON CONFLICT DO NOTHING`
	// ringRun raises the bell, and makes a run that nobody owns due.
	ringRun = `UPDATE runs SET bell = bell + 1,
  due = CASE WHEN owner = '' AND (due IS NULL OR due > ?1) THEN ?1 ELSE due END
WHERE n = ?2`
	insertLetter = `INSERT INTO letters (run, n, kind, path, incarnation, name, key, body, failure, sent)
SELECT n, bell, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE n = ?`
	selectLetters = `SELECT n, kind, path, incarnation, name, key, body, failure, sent FROM letters WHERE run = ? ORDER BY n`
	selectBell    = `SELECT bell FROM runs WHERE n = ?`
	deleteLetter  = `DELETE FROM letters WHERE run = ? AND n = ?`
)

// deliver puts a letter into the box of run n, unless one of its key came before.
func deliver(w *session, n int64, l *storage.Letter) error {
	ctx := context.Background()
	if l.Key != "" {
		fresh, err := w.exec(ctx, insertKey, n, l.Key)
		if err != nil || fresh == 0 {
			return err
		}
	}
	now := time.Now()
	if _, err := w.exec(ctx, ringRun, micros(now), n); err != nil {
		return err
	}
	_, err := w.exec(ctx, insertLetter, l.Kind, l.Path, l.Incarnation, l.Name, l.Key,
		[]byte(l.Body), storage.EncodeFailure(l.Failure), micros(orNow(l.Sent)), n)
	return err
}

// deliverAll delivers letters; those to runs that are not there are an error, or
// dropped.
func deliverAll(w *session, letters []storage.Letter, drop bool) error {
	for i := range letters {
		n, err := numberOf(context.Background(), w, letters[i].Run)
		if drop && errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := deliver(w, n, &letters[i]); err != nil {
			return err
		}
	}
	return nil
}

// Send puts letters into the boxes of runs.
func (s *Store) Send(ctx context.Context, letters ...storage.Letter) error {
	for i := range letters {
		if err := letters[i].Check(); err != nil {
			return err
		}
	}
	return s.update(ctx, &write{
		do:   func(w *session) error { return deliverAll(w, letters, false) },
		then: s.bell.rang,
	})
}

func takeLetters(w *session, n int64, taken []int64) error {
	for _, letter := range taken {
		if _, err := w.exec(context.Background(), deleteLetter, n, letter); err != nil {
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

const (
	tokenColumns = `t.run AS n, o.id AS run, t.id, t.path, t.incarnation, t.attempt, t.state,
  t.deadline, t.heartbeat, t.beat, t.worker, t.result, t.failure FROM tokens t JOIN origins o ON o.n = t.run`
	selectToken      = `SELECT ` + tokenColumns + ` WHERE t.id = ?`
	selectOpenTokens = `SELECT ` + tokenColumns + ` WHERE t.run = ? AND t.state = 0`

	// upsertToken adds a token, or changes one of the same run that is open.
	upsertToken = `INSERT INTO tokens
  (run, id, path, incarnation, attempt, state, deadline, heartbeat, beat, worker, result, failure)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET path = excluded.path, incarnation = excluded.incarnation, attempt = excluded.attempt,
  state = excluded.state, deadline = excluded.deadline, heartbeat = excluded.heartbeat, beat = excluded.beat,
  worker = excluded.worker, result = excluded.result, failure = excluded.failure
WHERE tokens.state = 0 AND tokens.run = excluded.run`
	endToken  = `UPDATE tokens SET state = ?, result = ?, failure = ? WHERE id = ? AND state = 0`
	beatToken = `UPDATE tokens SET beat = ? WHERE id = ? AND state = 0`
)

type tokenRow struct {
	N           int64
	Run         string
	ID          string
	Path        string
	Incarnation int
	Attempt     int
	State       uint8
	Deadline    moment
	Heartbeat   int64
	Beat        moment
	Worker      string
	Result      []byte
	Failure     []byte
}

func (r *tokenRow) token() (storage.Token, error) {
	failure, err := storage.DecodeFailure(r.Failure)
	if err != nil {
		return storage.Token{}, fmt.Errorf("%w (token %q)", err, r.ID)
	}
	return storage.Token{
		ID: r.ID, Run: r.Run, Path: r.Path, Incarnation: r.Incarnation, Attempt: r.Attempt,
		State: storage.TokenState(r.State), Deadline: r.Deadline.time(), Heartbeat: time.Duration(r.Heartbeat),
		Beat: r.Beat.time(), Worker: r.Worker, Result: r.Result, Failure: failure,
	}, nil
}

func readTokens(ctx context.Context, s *session, query string, arg any) ([]storage.Token, error) {
	var rows []tokenRow
	if err := s.all(ctx, &rows, query, arg); err != nil {
		return nil, err
	}
	out := make([]storage.Token, len(rows))
	for i := range rows {
		var err error
		if out[i], err = rows[i].token(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func writeTokens(w *session, n int64, tokens []storage.Token) error {
	ctx := context.Background()
	for i := range tokens {
		t := &tokens[i]
		done, err := w.exec(ctx, upsertToken, n, t.ID, t.Path, t.Incarnation, t.Attempt, t.State,
			micros(t.Deadline), int64(t.Heartbeat), micros(t.Beat), t.Worker, []byte(t.Result), storage.EncodeFailure(t.Failure))
		if err != nil {
			return err
		}
		if done == 1 || t.State != storage.TokenOpen {
			continue
		}
		var there tokenRow
		if err := w.get(ctx, &there, selectToken, t.ID); err != nil {
			return err
		}
		if there.N != n {
			return fmt.Errorf("%w: token %q", storage.ErrExists, t.ID)
		}
	}
	return nil
}

// findToken returns one token, and the number of its run.
func findToken(ctx context.Context, s *session, id string) (storage.Token, int64, error) {
	var row tokenRow
	if err := s.get(ctx, &row, selectToken, id); err != nil {
		return storage.Token{}, 0, notFound(err, "token", id)
	}
	t, err := row.token()
	return t, row.N, err
}

// Token returns one token.
func (s *Store) Token(ctx context.Context, id string) (t storage.Token, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		t, _, err = findToken(ctx, r, id)
		return err
	})
	return t, err
}

// changeToken runs an update of an open token, and returns the token.
func changeToken(w *session, id, query string, args ...any) (storage.Token, int64, error) {
	done, err := w.exec(context.Background(), query, args...)
	if err != nil {
		return storage.Token{}, 0, err
	}
	t, n, err := findToken(context.Background(), w, id)
	if err == nil && done == 0 {
		return storage.Token{}, 0, storage.ErrGone
	}
	return t, n, err
}

// EndToken completes or fails an open token, and tells its run.
func (s *Store) EndToken(ctx context.Context, id string, result atom.Value, failure *atom.Failure) (t storage.Token, err error) {
	state := storage.TokenCompleted
	if failure != nil {
		state, result = storage.TokenFailed, nil
	}
	err = s.update(ctx, &write{
		do: func(w *session) error {
			ended, n, err := changeToken(w, id, endToken, state, []byte(result), storage.EncodeFailure(failure), id)
			if err != nil {
				return err
			}
			t = ended
			letter := ended.Letter()
			return deliver(w, n, &letter)
		},
		then: s.bell.rang,
	})
	if err != nil {
		return storage.Token{}, err
	}
	return t, nil
}

// Beat renews an open token's heartbeat.
func (s *Store) Beat(ctx context.Context, id string) (t storage.Token, err error) {
	err = s.update(ctx, &write{do: func(w *session) (err error) {
		t, _, err = changeToken(w, id, beatToken, micros(time.Now()), id)
		return err
	}})
	if err != nil {
		return storage.Token{}, err
	}
	return t, nil
}

const (
	insertOutgoing = `INSERT INTO outbox (id, run, target, body, attempts, not_until, parked, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	selectOutgoing = `SELECT n, id, run, target, body, attempts, not_until, parked, error FROM outbox o
WHERE NOT parked AND (not_until IS NULL OR not_until <= ?)
  AND NOT EXISTS (SELECT 1 FROM outbox e WHERE e.run = o.run AND e.target = o.target AND e.n < o.n)
ORDER BY n LIMIT ?`
	deleteOutgoing = `DELETE FROM outbox WHERE n = ?`
	updateOutgoing = `UPDATE outbox SET attempts = ?, not_until = ?, parked = ?, error = ? WHERE n = ?`
)

func writeOutbox(w *session, run string, outbox []storage.Outgoing) error {
	for i := range outbox {
		o := &outbox[i]
		if _, err := w.exec(context.Background(), insertOutgoing, o.ID, run, o.Target, []byte(o.Body),
			o.Attempts, micros(o.NotUntil), o.Parked, o.Error); err != nil {
			return err
		}
	}
	return nil
}

// Outgoing returns what wants to be sent.
func (s *Store) Outgoing(ctx context.Context, now time.Time, limit int) ([]storage.Outgoing, error) {
	var rows []struct {
		N        int64
		ID       string
		Run      string
		Target   string
		Body     []byte
		Attempts int
		NotUntil moment `db:"not_until"`
		Parked   bool
		Error    string
	}
	err := s.view(ctx, func(r *session) error {
		return r.all(ctx, &rows, selectOutgoing, micros(now), limitOr(limit))
	})
	out := make([]storage.Outgoing, len(rows))
	for i, r := range rows {
		out[i] = storage.Outgoing{
			N: r.N, ID: r.ID, Run: r.Run, Target: r.Target, Body: r.Body,
			Attempts: r.Attempts, NotUntil: r.NotUntil.time(), Parked: r.Parked, Error: r.Error,
		}
	}
	return out, err
}

// Sent deletes what was sent.
func (s *Store) Sent(ctx context.Context, n ...int64) error {
	return s.update(ctx, &write{do: func(w *session) error {
		for _, n := range n {
			if _, err := w.exec(context.Background(), deleteOutgoing, n); err != nil {
				return err
			}
		}
		return nil
	}})
}

// Unsent stores that sending failed.
func (s *Store) Unsent(ctx context.Context, out storage.Outgoing) error {
	return s.update(ctx, &write{do: func(w *session) error {
		done, err := w.exec(context.Background(), updateOutgoing,
			out.Attempts, micros(out.NotUntil), out.Parked, out.Error, out.N)
		if err == nil && done == 0 {
			return fmt.Errorf("%w: outgoing %d", storage.ErrNotFound, out.N)
		}
		return err
	}})
}

const (
	insertDefinition = `INSERT INTO definitions (hash, name, version, language, text, created)
VALUES (?1, ?2, (SELECT coalesce(max(version), 0) + 1 FROM definitions WHERE name = ?2), ?3, ?4, ?5)
ON CONFLICT (hash) DO NOTHING`
	selectDefinition = `SELECT hash, name, version, language, text, created FROM definitions WHERE hash = ?`
)

func findDefinition(ctx context.Context, s *session, hash string) (storage.Definition, error) {
	var row struct {
		Hash     string
		Name     string
		Version  int64
		Language string
		Text     []byte
		Created  moment
	}
	if err := s.get(ctx, &row, selectDefinition, hash); err != nil {
		return storage.Definition{}, notFound(err, "definition", hash)
	}
	return storage.Definition{
		Hash: row.Hash, Name: row.Name, Version: row.Version, Language: row.Language, Text: row.Text, Created: row.Created.time(),
	}, nil
}

// PutDefinition stores a definition unless it is there.
func (s *Store) PutDefinition(ctx context.Context, def storage.Definition) (out storage.Definition, err error) {
	text := def.Text
	if text == nil {
		text = []byte{}
	}
	err = s.update(ctx, &write{do: func(w *session) (err error) {
		if _, err := w.exec(context.Background(), insertDefinition,
			def.Hash, def.Name, def.Language, text, micros(orNow(def.Created))); err != nil {
			return err
		}
		out, err = findDefinition(context.Background(), w, def.Hash)
		return err
	}})
	return out, err
}

// Definition returns the definition of that hash.
func (s *Store) Definition(ctx context.Context, hash string) (def storage.Definition, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		def, err = findDefinition(ctx, r, hash)
		return err
	})
	return def, err
}
