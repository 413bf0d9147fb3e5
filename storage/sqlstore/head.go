package sqlstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// A checkpoint writes its run's row once, whatever changes in it. The statements
// are put together of these parts, and their arguments likewise. Each part is followed by
// the same about many rows, and by its arguments, see [rowsForm].
const (
	countRun = `UPDATE runs SET seq = seq + 1, entries = ?, events = ?, refs = ?, iterations = ?, waited = ?, bytes = ?, undos = undos + ?,
  updated = ?, memory = coalesce(?, memory), recent = ?`
	countRows = `UPDATE runs SET seq = runs.seq + 1, entries = v.entries, events = v.events, refs = v.refs, iterations = v.iterations,
  waited = v.waited, bytes = v.bytes, undos = runs.undos + v.undos, updated = v.updated, memory = coalesce(v.memory, runs.memory), recent = v.recent`
	countTypes = `entries bigint, events bigint, refs bigint, iterations bigint, waited bigint, bytes bigint, undos bigint,
  updated bigint, memory bytea, recent bytea`

	turnTo   = `, state = ?, outcome = ?, undone = ?, hold = ?, started = ?, ended = ?, output_ref = ?, output = ?, failure = ?`
	turnRows = `, state = v.state, outcome = v.outcome, undone = v.undone, hold = v.hold, started = v.started, ended = v.ended,
  output_ref = v.output_ref, output = v.output, failure = v.failure`
	turnTypes = `, state smallint, outcome smallint, undone smallint, hold boolean, started bigint, ended bigint,
  output_ref bigint, output bytea, failure bytea`

	dropOwner = `, owner = '', ` + endTrial + `, due = CASE WHEN wakeups = ? THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END`
	dropRows  = `, owner = '', ` + endTrial + `, due = CASE WHEN runs.wakeups = v.wakeups THEN v.due ELSE v.now END`
	dropTypes = `, wakeups bigint, due bigint, now bigint`

	takeOver  = `, fence = ?, claim = ?, owner = ?, due = ?`
	takeRows  = `, fence = v.fence, claim = v.claim, owner = v.owner, due = v.due`
	takeTypes = `, fence bigint, claim text, owner text, due bigint`

	ifClaimed    = ` WHERE n = ? AND fence = ? AND claim = ? AND owner <> '' AND seq = ?`
	claimedRows  = ` WHERE runs.n = v.n AND runs.fence = v.held AND runs.claim = v.holder AND CASE WHEN runs.n = v.n THEN runs.owner <> '' END AND seq = v.before`
	claimedTypes = `, n bigint, held bigint, holder text, before bigint`

	ifFree    = ` WHERE n = ? AND fence = ? AND wakeups = ? AND owner = '' AND seq = ?`
	freeRows  = ` WHERE runs.n = v.n AND runs.fence = v.held AND wakeups = v.woken AND CASE WHEN runs.n = v.n THEN runs.owner = '' END AND seq = v.before`
	freeTypes = `, n bigint, held bigint, woken bigint, before bigint`

	ifCounted   = ` AND entries = ? AND events = ? AND refs = ? AND undos >= ? AND (CAST(? AS BIGINT) < 0 OR undos = ?)`
	countedRows = ` AND runs.entries = v.entered AND runs.events = v.happened AND runs.refs = v.referred
  AND runs.undos >= v.popped AND (v.stacked < 0 OR runs.undos = v.stack)`
	countedTypes = `, entered bigint, happened bigint, referred bigint, popped bigint, stacked bigint, stack bigint`
)

const (
	// guardRun is the first statement of a checkpoint: guard, lock and counters in
	// one. No row changed: the claim is void, or it was done before. The two below
	// are the same where more than the counters changes, and where the run is let
	// go of.
	guardRun = countRun + ifClaimed + ifCounted
	turnRun  = countRun + turnTo + ifClaimed + ifCounted
	leaveRun = countRun + turnTo + dropOwner + ifClaimed + ifCounted
	// beginRow is the first checkpoint of a claim that begins with it.
	beginRow = countRun + turnTo + takeOver + ifFree + ifCounted
	// stepRun is a checkpoint within a Step, which holds the run by its
	// transaction.
	stepRun = countRun + turnTo + `, due = ? WHERE n = ?`
)

// insertRun writes the row of a new run.
const insertRun = `INSERT INTO runs
  (n, seq, entries, events, refs, iterations, waited, bytes, undos, updated, memory, recent, state, outcome, undone, hold, started, ended,
  output_ref, output, failure, fence, claim, owner, due)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const (
	insertRunRows = `INSERT INTO runs
  (n, seq, entries, events, refs, iterations, waited, bytes, undos, updated, memory, recent, state, outcome, undone, hold, started, ended,
  output_ref, output, failure, fence, claim, owner, due)
SELECT v.n, v.seq, v.entries, v.events, v.refs, v.iterations, v.waited, v.bytes, v.undos, v.updated, v.memory, v.recent, v.state, v.outcome,
  v.undone, v.hold, v.started, v.ended, v.output_ref, v.output, v.failure, v.fence, v.claim, v.owner, v.due`
	runTypes = `n bigint, seq bigint, ` + countTypes + turnTypes + takeTypes
)

// createdArgs adds the arguments of insertRun, except the number, of a run that
// has not begun.
func createdArgs(args []any, run *storage.Run, refs int64, created any) []any {
	rest := endingOf(&storage.Head{
		State: run.State, Outcome: run.Outcome, Undo: run.Undo, Hold: run.Hold, Started: run.Started, Ended: run.Ended,
		Output: run.Output, Failure: run.Failure,
	})
	args = append(args, 0, 0, 0, refs, 0, 0, 0, 0, created, []byte(run.Memory), nil)
	return append(rest.args(args), 0, "", "", micros(run.Due))
}

// row adds the arguments of a run that begins with this checkpoint, with or without an owner.
func (c *commit) row(args []any) []any {
	h := &c.cp.Head
	memory := h.Memory
	if memory == nil {
		memory = c.claim.New.Memory
	}
	args = append(args, h.Seq+1, h.Entries, h.Events, h.Refs, h.Iterations, h.Waited, h.Bytes, len(c.cp.Push)-c.cp.Pop,
		h.Time.UnixMicro(), []byte(memory), []byte(c.turn.Row))
	return append(c.rest.args(args), c.taken()...)
}

// taken are the arguments of takeOver.
func (c *commit) taken() []any {
	if h := &c.cp.Head; h.Release {
		return []any{c.claim.Fence, c.claim.ID, "", micros(h.Due)}
	}
	return []any{c.claim.Fence, c.claim.ID, c.owner, nil}
}

// countArgs are the arguments of countRun, with capacity for those of the other parts.
func countArgs(w *session, cp *storage.Checkpoint, newest inline.Records) []any {
	h := &cp.Head
	return append(w.emptyArgs(), h.Entries, h.Events, h.Refs, h.Iterations, h.Waited, h.Bytes, len(cp.Push)-cp.Pop,
		h.Time.UnixMicro(), []byte(h.Memory), []byte(newest))
}

// args adds the arguments of turnTo.
func (e ending) args(to []any) []any {
	var output, failure []byte
	if e.output != "" {
		output = []byte(e.output)
	}
	if e.failure != "" {
		failure = []byte(e.failure)
	}
	return append(to, e.state, e.outcome, e.undone, e.hold, micros(e.started), micros(e.ended), e.outputRef, output, failure)
}

// counted are the arguments of ifCounted: the numbers that the checkpoint
// continues.
func counted(cp *storage.Checkpoint) []any {
	h := &cp.Head
	undos := int64(-1) // any
	if len(cp.Push) > 0 {
		undos = cp.Push[0].N - 1 + int64(cp.Pop)
	}
	return []any{h.Entries - int64(len(cp.History)), h.Events - cp.Events(), h.Refs - int64(len(cp.Payloads)), cp.Pop, undos, undos}
}

// begin takes the run over, or leaves it without an owner, and writes its row.
func (c *commit) begin(ctx context.Context, w *session) error {
	args := append(c.rest.args(countArgs(w, c.cp, c.turn.Row)), c.taken()...)
	args = append(args, c.n, c.claim.Fence-1, c.claim.Wakeups, c.cp.Head.Seq)
	return w.post(ctx, passed, beginRow, append(args, counted(c.cp)...)...)
}

// writeHead writes the row of a run that is owned.
func (c *commit) writeHead(ctx context.Context, w *session) error {
	h := &c.cp.Head
	query, args := guardRun, countArgs(w, c.cp, c.turn.Row)
	if c.known == nil || h.Release || !c.rest.same(c.known.rest) {
		query, args = turnRun, c.rest.args(args)
	}
	if h.Release {
		query, args = leaveRun, append(args, h.Wakeups, micros(h.Due), micros(time.Now()))
	}
	args = append(args, c.n, c.claim.Fence, c.claim.ID, h.Seq)
	return w.post(ctx, passed, query, append(args, counted(c.cp)...)...)
}

// passed checks that a guard let its statement pass.
func passed(rows int64) error {
	if rows != 1 {
		return errUnpassed
	}
	return nil
}

// writeStep writes the checkpoint of a Step, which was judged.
func writeStep(ctx context.Context, w *session, row *runRow, cp *storage.Checkpoint) error {
	rest := endingOf(&cp.Head)
	turn, err := inline.Records(row.Recent).Turn(&w.scratch, cp)
	if err != nil {
		return err
	}
	args := rest.args(countArgs(w, cp, turn.Row))
	if err := w.post(ctx, nil, stepRun, append(args, micros(cp.Head.Due), row.N)...); err != nil {
		return err
	}
	_, err = writeContents(ctx, w, row.N, row.ID, cp, &turn, row.Has)
	return err
}
