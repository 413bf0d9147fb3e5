package sqlstore

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// A run has a row in origins with the values that it was created with, and a row in runs with the values that
// change.

const (
	// insertOrigin is for SQLite, whose driver returns the number of the new run.
	insertOrigin = `INSERT INTO origins (id, flow, definition, structure, parent, root, depth, trace, job, key, continues,
		created, input_ref, input, attrs, secrets)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	// insertNumbered is for PostgreSQL, where nextNumbers has returned the number before.
	insertNumbered = `INSERT INTO origins (n, id, flow, definition, structure, parent, root, depth, trace, job, key,
		continues, created, input_ref, input, attrs, secrets)
SELECT v.n, v.id, v.flow, v.definition, v.structure, v.parent, v.root, v.depth, v.trace, v.job, v.key, v.continues,
v.created, v.input_ref, v.input, v.attrs, v.secrets
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
$9::text[], $10::text[], $11::text[], $12::text[],
  $13::bigint[], $14::bigint[], $15::bytea[], $16::bytea[], $17::bytea[])
AS v (n, id, flow, definition, structure, parent, root, depth, trace, job, key, continues, created, input_ref, input,
attrs, secrets) ON CONFLICT (id) DO NOTHING`
	nextNumbers = `SELECT nextval(pg_get_serial_sequence('origins', 'n')) FROM generate_series(1, CAST($1 AS BIGINT))`

	insertLabel = `INSERT INTO labels (run, key, value, class, created, ended) VALUES ($1, $2, $3, $4, $5, $6)`
)

// insertRun writes the row of a new run. Its arguments are the number, and then createdArgs or commit.row.
var insertRun = statement{
	onSQLite: `INSERT INTO runs
  (n, seq, entries, events, refs, iterations, waited, bytes, undos, updated, memory, recent, state, outcome, undone,
  hold, started, ended,
  output_ref, output, failure, code, fence, claim, owner, due, flow, created, child)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	onPostgres: `INSERT INTO runs
  (n, seq, entries, events, refs, iterations, waited, bytes, undos, updated, memory, recent, state, outcome, undone,
  hold, started, ended,
  output_ref, output, failure, code, fence, claim, owner, due, flow, created, child)
SELECT v.n, v.seq, v.entries, v.events, v.refs, v.iterations, v.waited, v.bytes, v.undos, v.updated, v.memory,
v.recent, v.state, v.outcome,
  v.undone, v.hold, v.started, v.ended, v.output_ref, v.output, v.failure, v.code, v.fence, v.claim, v.owner, v.due,
  v.flow, v.created, v.child
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
$8::bigint[], $9::bigint[],
  $10::bigint[], $11::bytea[], $12::bytea[],
  $13::smallint[], $14::smallint[], $15::smallint[], $16::boolean[], $17::bigint[], $18::bigint[], $19::bigint[],
  $20::bytea[], $21::bytea[], $22::bytea[],
  $23::bigint[], $24::text[], $25::text[], $26::bigint[], $27::text[], $28::bigint[], $29::smallint[])
AS v (n, seq, ` + countColumns + `, ` + endingColumns + `, fence, claim, owner, due, flow, created, child)`,
}

// parentKey is the key under which the table labels has the id of the run that started the run. No label has it.
const parentKey = ""

// createRun creates a run after its check, and returns its number. If first is not nil, the run starts with that
// commit, unless a limit is reached. If the run exists, createRun then returns errUnpassed, because an earlier
// attempt of the commit may have created it. The records of the checks were read by readChecked.
func createRun(ctx context.Context, w *session, run *storage.Run, first *commit,
	checks ...storage.RecordCheck,
) (int64, error) {
	created := micros(w.dialect.orNow(run.Created))
	input := run.Input
	if len(input.Data) > backend.InlineLimit {
		input = storage.Held{Ref: 1}
	}
	taken := errUnpassed
	if first == nil {
		taken = fmt.Errorf("%w: run %q", storage.ErrExists, run.ID)
	}
	if err := w.unchanged(ctx, run.ID, checks, taken); err != nil {
		return 0, err
	}
	if err := keyFree(ctx, w, run, taken); err != nil {
		return 0, err
	}
	n, err := createOrigin(ctx, w, taken, run.ID, run.Flow, run.Definition, run.Structure, run.Parent, run.Root, run.Depth,
		run.Trace, run.Job, run.Key, run.Continues,
		created, input.Ref, []byte(input.Data), []byte(run.Attrs), codec.AppendSecrets(nil, run))
	if err != nil {
		return 0, err
	}
	if err := takeKey(ctx, w, n, run.Key); err != nil {
		return 0, err
	}
	if err := bindJob(ctx, w, run); err != nil {
		return 0, err
	}
	row, rest := append(w.EmptyArgs(), n), createdEnding(run)
	if first != nil && first.limited == nil {
		row, rest = first.row(w, row), first.rest
	} else {
		row = createdArgs(row, run, rest, input.Ref, created)
	}
	child := class(0)
	if run.Parent != "" {
		child = 1
	}
	row = append(row, run.Flow, created, child)
	if err := w.Post(ctx, nil, insertRun[w.dialect.db], row...); err != nil {
		return 0, err
	}
	if input.Ref != 0 {
		if err := w.Post(ctx, nil, insertPayload[w.dialect.db], n, input.Ref, []byte(run.Input.Data)); err != nil {
			return 0, err
		}
	}
	label := func(key, value string) error {
		return w.Post(ctx, nil, insertLabel, n, key, value, rest.class()+child, created, micros(rest.ended))
	}
	for key, value := range run.Labels {
		if err := label(key, value); err != nil {
			return 0, err
		}
	}
	if run.Parent != "" {
		if err := label(parentKey, run.Parent); err != nil {
			return 0, err
		}
	}
	w.bear(run.Root)
	return n, assign(ctx, w, n, run.Flow, run.Labels)
}

// createOrigin writes the row of a run in origins, and returns the run's number. On a server, reserve gets the numbers
// of all runs of the transaction at once, so that the inserts do not wait for each other. If a run with that id exists,
// createOrigin fails with taken.
func createOrigin(ctx context.Context, w *session, taken error, args ...any) (int64, error) {
	is := func(rows int64) error {
		if rows == 0 {
			return taken
		}
		return nil
	}
	if !w.dialect.Posts {
		made, n, err := w.Insert(ctx, insertOrigin, args...)
		if err == nil {
			err = is(made)
		}
		return n, err
	}
	if err := w.reserve(ctx, 1); err != nil {
		return 0, err
	}
	n := w.numbers[0]
	w.numbers = w.numbers[1:]
	return n, w.Post(ctx, is, insertNumbered, append([]any{n}, args...)...)
}

// reserve asks a server for the numbers of n new runs, unless the session already has n numbers.
func (s *session) reserve(ctx context.Context, n int) error {
	if n <= len(s.numbers) || !s.dialect.Posts {
		return nil
	}
	var more []int64
	err := s.All(ctx, &more, nextNumbers, n-len(s.numbers))
	s.numbers = append(s.numbers, more...)
	return err
}

// Create implements [backend.Driver.Create].
func (s *store) Create(ctx context.Context, run storage.Run, checks ...storage.RecordCheck) error {
	if err := backend.CheckRun(&run, checks...); err != nil {
		return err
	}
	return s.update(ctx, &write{
		makes:  1,
		checks: checks,
		do: func(ctx context.Context, w *session) error {
			_, err := createRun(ctx, w, &run, nil, checks...)
			return err
		},
		arrivals: wakeup.Moves,
	})
}

func createdEnding(run *storage.Run) ending {
	return endingOf(&backend.Head{
		State: run.State, Outcome: run.Outcome, Undo: run.Undo, Hold: run.Hold, Started: run.Started, Ended: run.Ended,
		Output: run.Output, Failure: run.Failure,
	})
}

// createdArgs appends the arguments of insertRun, except the number, for a run that has not started.
func createdArgs(args []any, run *storage.Run, rest ending, refs int64, created any) []any {
	args = append(args, 0, 0, 0, refs, 0, 0, 0, 0, created, []byte(run.Memory), nil)
	return append(rest.args(args), 0, "", "", micros(run.Due))
}

// row appends the arguments of insertRun, except the number, for a run that starts with this checkpoint.
func (c *commit) row(w *session, args []any) []any {
	h := &c.cp.Head
	memory := h.Memory
	if memory == nil {
		memory = c.claim.New.Memory
	}
	args = append(args, h.Seq+1, h.Entries, h.Events, h.Refs, h.Iterations, h.Waited, h.Bytes, len(c.cp.Push)-c.cp.Pop,
		h.Time.UnixMicro(), []byte(memory), []byte(c.turn.Row))
	return append(c.rest.args(args), c.taken(w)...)
}

// taken returns the arguments with which beginRow and insertRun set the owner. A run that the checkpoint releases is
// due now if the checkpoint does not know of all messages that the claim was loaded with.
func (c *commit) taken(w *session) []any {
	if h := &c.cp.Head; h.Release {
		due := h.Due
		if h.Wakeups != c.claim.Wakeups {
			due = w.dialect.Now()
		}
		return []any{c.claim.Fence, c.claim.ID, "", micros(due)}
	}
	return []any{c.claim.Fence, c.claim.ID, c.owner, nil}
}
