package sqlstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
)

// A checkpoint writes its run's row once. The statement depends on what the checkpoint changes: guardRun writes
// only the counters, the others also write the parts of the row that few checkpoints change.
//
// The statement is also the guard of the checkpoint. If it changes no row, the claim is void or the checkpoint was
// committed before, and the store writes nothing else of the checkpoint.
var (
	guardRun = statement{
		onSQLite: setCounts + ifClaimed + ifCounted,
		onPostgres: setCountsRows + `
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
$8::bigint[], $9::bytea[], $10::bytea[],
  $11::bigint[], $12::bigint[], $13::text[], $14::bigint[],
  $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[])
AS v (` + countColumns + `, ` + claimedColumns + `, ` + countedColumns + `)` + ifClaimedRows + ifCountedRows,
	}
	// turnRun also changes the state, or another part of the row that is in [ending].
	turnRun = statement{
		onSQLite: setCounts + setEnding + ifClaimed + ifCounted,
		onPostgres: setCountsRows + setEndingRows + `
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
$8::bigint[], $9::bytea[], $10::bytea[],
  $11::smallint[], $12::smallint[], $13::smallint[], $14::boolean[], $15::bigint[], $16::bigint[], $17::bigint[],
  $18::bytea[], $19::bytea[], $20::bytea[],
  $21::bigint[], $22::bigint[], $23::text[], $24::bigint[],
  $25::bigint[], $26::bigint[], $27::bigint[], $28::bigint[], $29::bigint[], $30::bigint[])
AS v (` + countColumns + `, ` + endingColumns + `, ` + claimedColumns + `,
` + countedColumns + `)` + ifClaimedRows + ifCountedRows,
	}
	// leaveRun also releases the run. If a message has arrived that the checkpoint does not know of, the run is due
	// now.
	leaveRun = statement{
		onSQLite: setCounts + setEnding + `, owner = '', ` + endIsolation +
			`, due = CASE WHEN wakeups = ? THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END` + ifClaimed + ifCounted,
		onPostgres: setCountsRows + setEndingRows + `, owner = '', ` + endIsolation +
			`, due = CASE WHEN runs.wakeups = v.wakeups THEN v.due ELSE v.now END
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
$8::bigint[], $9::bytea[], $10::bytea[],
  $11::smallint[], $12::smallint[], $13::smallint[], $14::boolean[], $15::bigint[], $16::bigint[], $17::bigint[],
  $18::bytea[], $19::bytea[], $20::bytea[],
  $21::bigint[], $22::bigint[], $23::bigint[],
  $24::bigint[], $25::bigint[], $26::text[], $27::bigint[],
  $28::bigint[], $29::bigint[], $30::bigint[], $31::bigint[], $32::bigint[], $33::bigint[])
AS v (` + countColumns + `, ` + endingColumns + `, wakeups, due, now, ` + claimedColumns + `,
` + countedColumns + `)` + ifClaimedRows + ifCountedRows,
	}
	// beginRow writes the first checkpoint of a claim that begins with it: it takes the run over.
	beginRow = statement{
		onSQLite: setCounts + setEnding + `, fence = ?, claim = ?, owner = ?, due = ?
WHERE n = ? AND fence = ? AND wakeups = ? AND owner = '' AND seq = ?` + ifCounted,
		onPostgres: setCountsRows + setEndingRows + `, fence = v.fence, claim = v.claim, owner = v.owner, due = v.due
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
$8::bigint[], $9::bytea[], $10::bytea[],
  $11::smallint[], $12::smallint[], $13::smallint[], $14::boolean[], $15::bigint[], $16::bigint[], $17::bigint[],
  $18::bytea[], $19::bytea[], $20::bytea[],
  $21::bigint[], $22::text[], $23::text[], $24::bigint[],
  $25::bigint[], $26::bigint[], $27::bigint[], $28::bigint[],
  $29::bigint[], $30::bigint[], $31::bigint[], $32::bigint[], $33::bigint[], $34::bigint[])
AS v (` + countColumns + `, ` + endingColumns + `, fence, claim, owner, due, n, held, woken, before,
` + countedColumns + `)
WHERE runs.n = v.n AND runs.fence = v.held AND wakeups = v.woken
AND CASE WHEN runs.n = v.n THEN runs.owner = '' END AND seq = v.before` + ifCountedRows,
	}
	// stepRun writes a checkpoint within a Step, whose transaction has locked the run.
	stepRun = statement{
		onSQLite: setCounts + setEnding + `, due = ? WHERE n = ?`,
		onPostgres: setCountsRows + setEndingRows + `, due = v.due
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
$8::bigint[], $9::bytea[], $10::bytea[],
  $11::smallint[], $12::smallint[], $13::smallint[], $14::boolean[], $15::bigint[], $16::bigint[], $17::bigint[],
  $18::bytea[], $19::bytea[], $20::bytea[],
  $21::bigint[], $22::bigint[])
AS v (` + countColumns + `, ` + endingColumns + `, due, n) WHERE runs.n = v.n`,
	}
)

// The parts of these statements. countArgs, ending.args and counted return their arguments.
const (
	setCounts = `UPDATE runs SET seq = seq + 1, entries = ?, events = ?, refs = ?, iterations = ?, waited = ?,
		bytes = ?, undos = undos + ?,
  updated = ?, memory = coalesce(?, memory), recent = ?`
	setCountsRows = `UPDATE runs SET seq = runs.seq + 1, entries = v.entries, events = v.events, refs = v.refs,
		iterations = v.iterations,
  waited = v.waited, bytes = v.bytes, undos = runs.undos + v.undos, updated = v.updated, memory =
  coalesce(v.memory, runs.memory), recent = v.recent`
	countColumns = `entries, events, refs, iterations, waited, bytes, undos, updated, memory, recent`

	setEnding = `, state = ?, outcome = ?, undone = ?, hold = ?, started = ?, ended = ?, output_ref = ?, output = ?,
		failure = ?, code = ?`
	setEndingRows = `, state = v.state, outcome = v.outcome, undone = v.undone, hold = v.hold, started = v.started,
		ended = v.ended,
  output_ref = v.output_ref, output = v.output, failure = v.failure, code = v.code`
	endingColumns = `state, outcome, undone, hold, started, ended, output_ref, output, failure, code`

	ifClaimed     = ` WHERE n = ? AND fence = ? AND claim = ? AND owner <> '' AND seq = ?`
	ifClaimedRows = ` WHERE runs.n = v.n AND runs.fence = v.held AND runs.claim = v.holder
  AND CASE WHEN runs.n = v.n THEN runs.owner <> '' END AND seq = v.before`
	claimedColumns = `n, held, holder, before`

	ifCounted     = ` AND entries = ? AND events = ? AND refs = ? AND undos >= ? AND (CAST(? AS BIGINT) < 0 OR undos = ?)`
	ifCountedRows = ` AND runs.entries = v.entered AND runs.events = v.happened AND runs.refs = v.referred
  AND runs.undos >= v.popped AND (v.stacked < 0 OR runs.undos = v.stack)`
	countedColumns = `entered, happened, referred, popped, stacked, stack`
)

// countArgs returns the arguments of setCounts except the last one, which is the records in the row. The list has
// capacity for the arguments of the other parts.
func countArgs(w *session, cp *backend.Checkpoint) []any {
	h := &cp.Head
	return append(w.EmptyArgs(), h.Entries, h.Events, h.Refs, h.Iterations, h.Waited, h.Bytes, len(cp.Push)-cp.Pop,
		h.Time.UnixMicro(), []byte(h.Memory))
}

// ending is the part of a run's row that few commits change. A commit writes it only if it differs from the stored
// row.
type ending struct {
	state, outcome, undone uint8
	hold                   bool
	started, ended         time.Time
	outputRef              int64
	output, failure        string
	code                   string // of the failure
}

func (r *runRow) ending() ending {
	return ending{
		state: r.State, outcome: r.Outcome, undone: r.Undone, hold: r.Hold,
		started: r.Started.time(), ended: r.Ended.time(),
		outputRef: r.OutputRef, output: string(r.Output), failure: string(r.Failure), code: string(r.Code),
	}
}

func endingOf(h *backend.Head) ending {
	e := ending{
		state: uint8(h.State), outcome: uint8(h.Outcome), undone: uint8(h.Undo), hold: h.Hold,
		started: h.Started, ended: h.Ended, outputRef: h.Output.Ref,
		failure: string(codec.EncodeFailure(h.Failure)),
	}
	if h.Failure != nil {
		e.code = h.Failure.Bounded().Code
	}
	if h.Output.Ref == 0 {
		e.output = string(h.Output.Data)
	}
	return e
}

// same compares times to the microsecond, because the row stores them so.
func (e *ending) same(o *ending) bool {
	a, b := *e, *o
	a.started, a.ended, b.started, b.ended = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	return a == b && micros(e.started) == micros(o.started) && micros(e.ended) == micros(o.ended)
}

// args appends the arguments of setEnding.
func (e *ending) args(to []any) []any {
	var output, failure, code []byte
	if e.output != "" {
		output = []byte(e.output)
	}
	if e.failure != "" {
		failure = []byte(e.failure)
	}
	if e.code != "" {
		code = []byte(e.code)
	}
	return append(to, e.state, e.outcome, e.undone, e.hold, micros(e.started), micros(e.ended), e.outputRef, output,
		failure, code)
}

// counted returns the arguments of ifCounted: the numbers that the checkpoint continues.
func counted(cp *backend.Checkpoint) []any {
	h := &cp.Head
	undos := int64(-1) // -1 means any height of the undo stack
	if len(cp.Push) > 0 {
		undos = cp.Push[0].N - 1 + int64(cp.Pop)
	}
	return []any{
		h.Entries - int64(len(cp.History)), h.Events - cp.Events(), h.Refs - int64(len(cp.Payloads)), cp.Pop,
		undos, undos,
	}
}

// begin writes the first checkpoint of a claim: the run has this store's owner or, if the checkpoint releases it,
// no owner afterwards.
func (c *commit) begin(ctx context.Context, w *session) error {
	newest, err := c.look(ctx, w)
	if err == nil {
		err = c.admit(ctx, w)
	}
	if err == nil {
		c.turn, err = newest.Turn(&w.scratch, c.cp)
	}
	if err != nil {
		return err
	}
	args := append(c.rest.args(append(countArgs(w, c.cp), []byte(c.turn.Row))), c.taken(w)...)
	args = append(args, c.n, c.claim.Fence-1, c.claim.Wakeups, c.cp.Head.Seq)
	if err := w.Post(ctx, passed, beginRow[w.dialect.db], append(args, counted(c.cp)...)...); err != nil {
		return err
	}
	return c.writeContents(ctx, w)
}

// write writes a checkpoint of a run that this store's owner drives.
func (c *commit) write(ctx context.Context, w *session) error {
	newest, err := c.look(ctx, w)
	if err != nil {
		return err
	}
	if c.turn, err = newest.Turn(&w.scratch, c.cp); err != nil {
		return err
	}
	h := &c.cp.Head
	update, args := guardRun, append(countArgs(w, c.cp), []byte(c.turn.Row))
	if c.known == nil || h.Release || !c.rest.same(&c.known.rest) {
		update, args = turnRun, c.rest.args(args)
	}
	if h.Release {
		update, args = leaveRun, append(args, h.Wakeups, micros(h.Due), micros(w.dialect.Now()))
	}
	args = append(args, c.n, c.claim.Fence, c.claim.ID, h.Seq)
	if err := w.Post(ctx, passed, update[w.dialect.db], append(args, counted(c.cp)...)...); err != nil {
		return err
	}
	return c.writeContents(ctx, w)
}

// passed returns errUnpassed if a statement changed no row.
func passed(rows int64) error {
	if rows != 1 {
		return errUnpassed
	}
	return nil
}
