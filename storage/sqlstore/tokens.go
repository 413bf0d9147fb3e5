package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

//nolint:gosec // no credentials: a token is the right to end an atom
const (
	tokenColumns = tokenFields + `
  FROM tokens JOIN origins o ON o.n = tokens.run`
	tokenFields = `tokens.run AS n, o.id AS run, ` + tokenValues
	tokenValues = `tokens.id, tokens.path, tokens.incarnation, tokens.attempt, tokens.state,
  tokens.deadline, tokens.heartbeat, tokens.beat, tokens.since, tokens.schedule_to_start, tokens.start_to_close,
  tokens.queue, tokens.worker, tokens.take, tokens.lease, tokens.work, tokens.result, tokens.failure, tokens.priority,
  tokens.progress, tokens.details, tokens.give_up`
	selectToken      = `SELECT ` + tokenColumns + ` WHERE tokens.id = $1`
	selectOpenTokens = `SELECT ` + tokenColumns + ` WHERE tokens.run = $1 AND tokens.state = ` + tokenOpen + `
ORDER BY tokens.path, tokens.id`
	returnToken = `
RETURNING tokens.run AS n, (SELECT o.id FROM origins o WHERE o.n = tokens.run) AS run, ` + tokenValues
	// useToken changes an open token on the condition that no worker has taken it since.
	useToken = `UPDATE tokens SET state = $1, beat = $2, since = $3, worker = $4, take = $5, lease = $6,
  work = CASE WHEN CAST($1 AS SMALLINT) = ` + tokenOpen + ` THEN work END, result = $7, failure = $8
WHERE id = $9 AND run = $10 AND take = $11 AND state = ` + tokenOpen
	giveUpToken = `UPDATE tokens SET give_up = 1 WHERE id = $1 AND run = $2 AND state = ` + tokenOpen
	beatToken   = `UPDATE tokens SET beat = $1 WHERE id = $2 AND state = ` + tokenOpen + returnToken
)

// The number of the take guards the worker's writes. 0 applies in any case, -1 only if no worker has taken the token.
// $6 is the last heartbeat, or 0.
var endToken = withRun(`UPDATE tokens SET state = $1, work = NULL, result = $2, failure = $3
WHERE id = $4 AND state = ` + tokenOpen + `
  AND (CAST($5 AS BIGINT) IN (0, take) OR take = 0 AND CAST($5 AS BIGINT) = -1)
AND (CAST($6 AS BIGINT) = 0 OR beat = $6)`)

// withRun returns a statement that changes the token with the id $4. On PostgreSQL it also locks the row of the token's
// run until the end of the transaction; if another transaction has locked the row, it changes nothing.
func withRun(update string) statement {
	return statement{
		onSQLite: update + returnToken,
		onPostgres: `WITH held AS (SELECT r.n FROM tokens k JOIN runs r ON r.n = k.run WHERE k.id = $4
FOR UPDATE OF r` + skipLocked + `)
` + update + ` AND run = (SELECT n FROM held)` + returnToken,
	}
}

// upsertToken adds a token, or changes an open token of the same run.
var upsertToken = statement{
	onSQLite: insertToken + `
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)` + orUpdateToken,
	// It fails by a division by zero if another run has a token with the id.
	onPostgres: `WITH v AS MATERIALIZED (SELECT ` + newTokenColumns + `
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[],
$5::bigint[], $6::smallint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
$13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bytea[], $18::bytea[], $19::bytea[], $20::bigint[],
$21::bigint[]) AS v (` + newTokenColumns + `)),
done AS (` + insertToken + `
SELECT ` + newTokenColumns + ` FROM v` + orUpdateToken + `)
SELECT 1 / CAST(NOT EXISTS (SELECT 1 FROM tokens t WHERE t.id = v.id AND t.run <> v.run) AS INT) FROM v`,
}

//nolint:gosec // as above
const (
	insertToken     = `INSERT INTO tokens (` + newTokenColumns + `)`
	newTokenColumns = `run, id, path, incarnation, attempt, state, deadline, heartbeat, beat, since, schedule_to_start,
  start_to_close, queue, worker, take, lease, work, result, failure, priority, place`
	orUpdateToken = `
ON CONFLICT (id) DO UPDATE SET path = excluded.path, incarnation = excluded.incarnation, attempt = excluded.attempt,
  state = excluded.state, deadline = excluded.deadline, heartbeat = excluded.heartbeat, beat = excluded.beat,
  since = excluded.since, schedule_to_start = excluded.schedule_to_start, start_to_close = excluded.start_to_close,
  queue = excluded.queue, worker = excluded.worker, take = excluded.take, lease = excluded.lease, work = excluded.work,
  result = excluded.result, failure = excluded.failure, priority = excluded.priority
WHERE tokens.state = ` + tokenOpen + ` AND tokens.run = excluded.run`
)

type tokenRow struct {
	unread

	N           int64
	Run         string
	ID          string
	Path        string
	Incarnation int
	Attempt     int
	State       int64 // wider than the value, see timerRow
	Deadline    moment
	Heartbeat   int64
	Beat        moment
	Since       moment
	ToStart     int64 `db:"schedule_to_start"`
	ToClose     int64 `db:"start_to_close"`
	Queue       string
	Worker      string
	Take        int64
	Lease       moment
	Work        []byte
	Result      []byte
	Failure     []byte
	Priority    int32
	Progress    float64
	Details     []byte
	GiveUp      int64 `db:"give_up"`
}

func (r *tokenRow) token() (storage.Token, error) {
	failure, err := codec.DecodeFailure(r.Failure)
	if r.State != int64(uint8(r.State)) {
		err = fmt.Errorf("%w: %d is no state", storage.ErrCorrupt, r.State)
	}
	if err != nil {
		return storage.Token{}, fmt.Errorf("%w (token %q)", err, r.ID)
	}
	return storage.Token{
		ID: r.ID, Run: r.Run, Path: r.Path, Incarnation: r.Incarnation, Attempt: r.Attempt,
		State: storage.TokenState(r.State), Deadline: r.Deadline.time(), Heartbeat: time.Duration(r.Heartbeat),
		Beat: r.Beat.time(), Since: r.Since.time(), ScheduleToStart: time.Duration(r.ToStart),
		StartToClose: time.Duration(r.ToClose),
		Queue:        r.Queue, Work: r.Work, Worker: r.Worker, Take: r.Take, Lease: r.Lease.time(), Result: r.Result,
		Failure: failure, Priority: r.Priority, Progress: r.Progress, Details: r.Details, GiveUp: r.GiveUp != 0,
	}, nil
}

func readTokens(ctx context.Context, s *session, query string, arg any) ([]storage.Token, error) {
	return readable(ctx, s, (*tokenRow).token, query, arg)
}

func writeTokens(ctx context.Context, w *session, n int64, tokens []storage.Token) error {
	place := len(tokens)
	for t := range lastOfEach(tokens, func(t *storage.Token) string { return t.ID }) {
		place--
		work := []byte(t.Work)
		if t.State != storage.TokenOpen {
			work = nil
		}
		args := []any{
			n, t.ID, t.Path, t.Incarnation, t.Attempt, t.State, micros(t.Deadline), int64(t.Heartbeat), micros(t.Beat),
			micros(t.Since), int64(t.ScheduleToStart), int64(t.StartToClose), t.Queue, t.Worker, t.Take, micros(t.Lease),
			work, []byte(t.Result), codec.EncodeFailure(t.Failure), int64(t.Priority), place,
		}
		if err := w.Post(ctx, w.ofThisRun(ctx, n, t), upsertToken[w.dialect.db], args...); err != nil {
			return err
		}
	}
	return nil
}

// ofThisRun returns the check of upsertToken, which returns ErrExists if another run has a token with the id.
func (s *session) ofThisRun(ctx context.Context, n int64, t *storage.Token) func(rows int64) error {
	return func(rows int64) error {
		if rows == 1 || !s.dialect.Posts && t.State != storage.TokenOpen {
			return nil
		}
		var there tokenRow
		if !s.dialect.Posts { // otherwise the statement has compared the runs
			if err := s.Get(ctx, &there, selectToken, t.ID); err != nil {
				return err
			}
		}
		if there.N != n {
			return fmt.Errorf("%w: token %q", storage.ErrExists, t.ID)
		}
		return nil
	}
}

// useTokens carries out the changes of tokens that callers ask for. The store commits nothing if a token has changed.
func useTokens(ctx context.Context, w *session, n int64, used []backend.TokenUse) error {
	for i := range used {
		t := &used[i].Token
		err := w.Post(ctx, asTaken, useToken, t.State, micros(t.Beat), micros(t.Since), t.Worker, t.Take, micros(t.Lease),
			[]byte(t.Result), codec.EncodeFailure(t.Failure), t.ID, n, used[i].Was)
		if err != nil {
			return err
		}
	}
	return nil
}

// asTaken returns ErrTaken if a statement changed no row.
func asTaken(rows int64) error {
	if rows != 1 {
		return storage.ErrTaken
	}
	return nil
}

// giveUpTokens tells the workers of tokens to give them up.
func giveUpTokens(ctx context.Context, w *session, n int64, ids []string) error {
	for _, id := range ids {
		if err := w.Post(ctx, nil, giveUpToken, id, n); err != nil {
			return err
		}
	}
	return nil
}

func findToken(ctx context.Context, s *session, id string) (storage.Token, error) {
	var row tokenRow
	if err := s.Get(ctx, &row, selectToken, id); err != nil {
		return storage.Token{}, notFound(err, "token", id)
	}
	return row.token()
}

// Token implements [backend.Reader.Token].
func (s *store) Token(ctx context.Context, id string) (t storage.Token, err error) {
	err = s.glance(ctx, func(r *session) (err error) {
		t, err = findToken(ctx, r, id)
		return err
	})
	return t, err
}

// changeToken runs an update of an open token, and returns the token and the number of its run.
func changeToken(ctx context.Context, w *session, id, query string, args ...any) (storage.Token, int64, error) {
	var rows []tokenRow
	if err := w.All(ctx, &rows, query, args...); err != nil {
		return storage.Token{}, 0, err
	}
	if len(rows) == 1 {
		w.Count(1, args)
		t, err := rows[0].token()
		return t, rows[0].N, err
	}
	t, err := findToken(ctx, w, id)
	switch {
	case err != nil:
		return storage.Token{}, 0, err
	case t.State != storage.TokenOpen:
		return storage.Token{}, 0, storage.ErrGone
	case w.yields: // perhaps another transaction has locked the run
		return storage.Token{}, 0, errHeld
	default:
		return storage.Token{}, 0, storage.ErrTaken
	}
}

// EndToken implements [backend.Inbox.EndToken].
func (s *store) EndToken(ctx context.Context, id string, end storage.TokenEnd) (t storage.Token, err error) {
	state, result := storage.TokenCompleted, end.Result
	if end.Failure != nil {
		state, result = storage.TokenFailed, nil
	}
	if err := backend.CheckTokenEnd(&end); err != nil {
		return t, err
	}
	misfit, err := s.misfit(ctx, id, &end)
	if err != nil {
		return storage.Token{}, err
	}
	err = s.update(ctx, &write{
		do: func(ctx context.Context, w *session) error {
			if err := w.holdRunOf(ctx, id); err != nil {
				return err
			}
			var beat int64
			if !end.Beat.IsZero() {
				beat = end.Beat.UnixMicro()
			}
			ended, n, err := changeToken(ctx, w, id, endToken[w.dialect.db], state, []byte(result),
				codec.EncodeFailure(end.Failure), id, end.Take, beat)
			if err == nil {
				err = misfit
			}
			if err != nil {
				return err
			}
			t = ended
			message := rules.EndedMessage(&ended, end.Issuer)
			return deliver(ctx, w, n, &message)
		},
		arrivals: wakeup.Moves,
	})
	if err != nil {
		return storage.Token{}, err
	}
	return t, nil
}

const selectAwaited = `SELECT o.id AS run, tokens.path, tokens.work, s.body AS awaited
FROM tokens JOIN origins o ON o.n = tokens.run
JOIN records s ON s.kind = '` + awaited.RecordKind + `' AND s.key = o.structure WHERE tokens.id = $1`

// misfit returns why the result does not fit the atom of an open token, see [rules.CheckResult].
func (s *store) misfit(ctx context.Context, id string, end *storage.TokenEnd) (misfit, err error) {
	if end.Failure != nil {
		return nil, nil //nolint:nilerr // a failure always fits
	}
	var rows []struct {
		Run     string
		Path    string
		Work    []byte
		Awaited []byte
	}
	err = s.glance(ctx, func(r *session) error { return r.All(ctx, &rows, selectAwaited, id) })
	if err == nil && len(rows) == 1 {
		misfit = rules.CheckResult(rows[0].Run, rows[0].Path, rows[0].Work, rows[0].Awaited, end.Result)
	}
	return misfit, err
}

// RunTokens implements [backend.Reader.RunTokens].
func (s *store) RunTokens(ctx context.Context, run string) (tokens []storage.Token, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		tokens, err = readTokens(ctx, r, selectOpenTokens, n)
		return err
	})
	return tokens, err
}
