package sqlstore

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/internal/waiting"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// Commit implements [backend.Driver.Commit].
func (s *store) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	if s.readOnly {
		return fmt.Errorf("%w (%s)", ErrReadOnly, s.place)
	}
	if err := cp.Check(); err != nil {
		return err
	}
	c := commit{owner: s.owner.ID, claim: claim, cp: cp, known: s.claims.get(claim.ID), rest: endingOf(&cp.Head)}
	number, makes, locks, takes := int64(0), 0, addressees(cp.Messages), false
	var do func(context.Context, *session) error
	var checks []storage.RecordCheck
	switch {
	case claim.Makes(cp):
		do = c.make
		if err := rules.Continues(cp, claim.New); err != nil {
			return err
		}
		makes, checks = 1, claim.Checks
	default:
		if do = c.write; claim.BeginsWith(cp) {
			do = c.begin
		}
		// After a commit without an answer, the store drops what it knows of the row. So c.known is what the row
		// contains.
		if c.known != nil && len(locks) == 0 {
			number, takes = c.known.n, claim.BeginsWith(cp)
		}
		locks = append(locks, claim.Run)
	}
	var one write
	one = write{
		checkpoint: true, again: true,
		number: number,
		makes:  makes,
		checks: checks,
		takes:  takes,
		fence:  claim.Fence - 1,
		do:     do,
		judge: func(ctx context.Context, w *session) error {
			err := judge(ctx, w, claim, cp)
			if c.before = err == nil; c.before {
				c.limited = nil
			}
			return err
		},
		runs: locks,
		then: func() {
			if c.limited == nil {
				s.hub.Committed(claim.Run, cp)
			}
			if c.freesPlace { // another run may be driven now
				one.arrivals = wakeup.Moves
			}
			switch {
			case cp.Head.Release, c.before, c.limited != nil:
				s.claims.drop(claim.ID)
			default:
				s.claims.put(claim.ID, &claimed{n: c.n, bucket: c.bucket, rest: c.rest, has: c.has, recent: c.turn.Row})
			}
		},
		arrivals: arrivalsFor(cp),
	}
	err := s.update(ctx, &one)
	if err != nil {
		s.claims.drop(claim.ID) // the store no longer knows the content of the run's row
	}
	if err == nil && c.limited != nil {
		return c.limited
	}
	return err
}

// arrivalsFor returns which waiting callers the checkpoint concerns.
func arrivalsFor(cp *backend.Checkpoint) wakeup.Change {
	h := &cp.Head
	switch {
	case len(cp.Children) > 0, len(cp.Messages) > 0, len(cp.Outbox) > 0 && h.Release, h.Release &&
		(!h.State.Ended() || !h.Due.IsZero()):
		return wakeup.Moves
	case cp.Job != nil && !cp.Job.State.Ended():
		return wakeup.Posts
	case waiting.Queues(cp):
		return wakeup.Works
	case h.Release, cp.Job != nil:
		return wakeup.Ends
	}
	return wakeup.Nothing
}

// A commit is the write of one checkpoint.
type commit struct {
	owner string
	claim backend.Claim
	cp    *backend.Checkpoint
	known *claimed // content of the run's row; nil if the commit must read it
	rest  ending

	n      int64 // number of the run
	bucket int64 // number of its bucket; 0 if no limit counts the run
	has    parts // tables that may have atoms of the run
	turn   inline.Flush

	moves      bool                  // the run's place in lists changes
	before     bool                  // the same checkpoint was committed earlier
	freesPlace bool                  // the commit releases a run that a limit counts
	limited    *storage.LimitedError // the limit because of which the run was created and not driven
}

const selectNewest = `SELECT o.n, coalesce(r.bucket, 0) AS bucket, r.recent FROM origins o
	JOIN runs r ON r.n = o.n WHERE o.id = $1`

// look returns the newest records of the run, which are in its row. If the store does not know them, look reads the
// row. Because a transaction may be repeated, look also resets the results of an earlier attempt.
func (c *commit) look(ctx context.Context, w *session) (inline.Records, error) {
	c.before, c.limited = false, nil
	newest := c.known
	if newest == nil {
		var row struct {
			N, Bucket int64
			Recent    []byte
		}
		if err := w.hold(ctx, c.claim.Run); err != nil {
			return nil, err
		}
		if err := w.Get(ctx, &row, selectNewest, c.claim.Run); err != nil {
			return nil, notFound(err, "run", c.claim.Run)
		}
		newest = &claimed{n: row.N, bucket: row.Bucket, has: hasAtoms | hasSettled | hasLabels | hasKey, recent: row.Recent}
	}
	c.n, c.bucket, c.has = newest.n, newest.bucket, newest.has
	c.moves = c.known == nil || c.rest.movesFrom(&newest.rest)
	c.freesPlace = c.bucket != 0 && c.cp.Head.Release
	return newest.recent, nil
}

// writeContents writes everything of the checkpoint except the run's row.
func (c *commit) writeContents(ctx context.Context, w *session) (err error) {
	c.has, err = writeContents(ctx, w, c.n, c.claim.Run, c.cp, &c.turn, c.has)
	if err != nil || !c.moves || c.has&hasLabels == 0 {
		return err
	}
	return c.rest.moveLabels(ctx, w, c.n)
}

// make creates the run with this checkpoint. If a limit is reached, make creates the run without the checkpoint.
func (c *commit) make(ctx context.Context, w *session) (err error) {
	c.before, c.limited, c.has, c.moves = false, nil, 0, false
	if len(c.claim.New.Labels) > 0 || c.claim.New.Parent != "" {
		c.has = hasLabels
	}
	if c.claim.New.Key != "" {
		c.has |= hasKey
	}
	if !c.cp.Head.Release {
		if c.limited, err = noPlace(ctx, w, c.claim.New); err != nil {
			return err
		}
	}
	if c.turn, err = inline.Records(nil).Turn(&w.scratch, c.cp); err != nil {
		return err
	}
	if c.n, err = createRun(ctx, w, c.claim.New, c, c.claim.Checks...); err != nil || c.limited != nil {
		return err
	}
	c.freesPlace = len(w.limits) > 0 && c.cp.Head.Release
	return c.writeContents(ctx, w)
}

// judge returns why the guard of a checkpoint matched no row; nil if the checkpoint was committed before.
func judge(ctx context.Context, w *session, claim backend.Claim, cp *backend.Checkpoint) error {
	row, err := findRun(ctx, w, claim.Run)
	if err != nil {
		return err
	}
	_, err = rules.Guard(cp, &storage.Run{
		Fence: row.Fence, ClaimID: row.Claim, Owner: row.Owner, Wakeups: row.Wakeups,
		Seq: row.Seq, Entries: row.Entries, Events: row.Events, Refs: row.Refs, Undos: row.Undos,
	}, claim)
	return err
}

// writeContents writes everything of a checkpoint except the run's row. It returns which tables may have atoms of
// the run now.
func writeContents(ctx context.Context, w *session, n int64, run string, cp *backend.Checkpoint, t *inline.Flush,
	has parts,
) (parts, error) {
	for _, write := range [...]func() error{
		func() error { return writeOrigin(ctx, w, n, cp) },
		func() error { return writeKey(ctx, w, n, cp, has) },
		func() error { return writeLabels(ctx, w, n, cp, &has) },
		func() error { return writePayloads(ctx, w, n, cp.Payloads) },
		func() (err error) { has, err = writeFlush(ctx, w, t, n, has); return err },
		func() error { return forgetAtoms(ctx, w, n, cp.Forget, has) },
		func() error { return writeUndo(ctx, w, n, cp) },
		func() error { return writeTimers(ctx, w, n, cp.Timers) },
		func() error { return useTokens(ctx, w, n, cp.Used) },
		func() error { return writeTokens(ctx, w, n, cp.Tokens) },
		func() error { return giveUpTokens(ctx, w, n, cp.GiveUp) },
		func() error { return takeMessages(ctx, w, n, cp.Taken) },
		func() error { return writeAudit(ctx, w, n, cp) },
		func() error { return writeOutbox(ctx, w, run, cp.Outbox) },
		func() error { return writeChildren(ctx, w, cp) },
		func() error { return deliverAll(ctx, w, cp.Messages, true) },
		func() error { return endJobOf(ctx, w, run, cp.Job) },
	} {
		if err := write(); err != nil {
			return has, err
		}
	}
	return has, nil
}

const (
	replaceInput     = `UPDATE origins SET input_ref = $1, input = $2 WHERE n = $3`
	replaceStructure = `UPDATE origins SET structure = $1 WHERE n = $2`
	// replaceLabel reads what the run was created with, and not its row, which the same transaction may change later.
	replaceLabel = `INSERT INTO labels (run, key, value, class, created, ended)
SELECT n, $2, $3, CAST($4 AS INTEGER) + CASE WHEN parent <> '' THEN 1 ELSE 0 END, created, CAST($5 AS BIGINT)
FROM origins WHERE n = $1
ON CONFLICT (run, key) DO UPDATE SET value = excluded.value, class = excluded.class, ended = excluded.ended`
	deleteLabel = `DELETE FROM labels WHERE run = $1 AND key = $2`
)

// writeOrigin changes the input and the structure of a run. Few checkpoints change them.
func writeOrigin(ctx context.Context, w *session, n int64, cp *backend.Checkpoint) error {
	if in := cp.Input; in != nil {
		var inline []byte
		if in.Ref == 0 {
			inline = in.Data
		}
		if err := w.Post(ctx, nil, replaceInput, in.Ref, inline, n); err != nil {
			return err
		}
	}
	if cp.Head.Absolve {
		if err := w.Post(ctx, nil, absolveRun, n); err != nil {
			return err
		}
	}
	if cp.Structure != "" {
		if err := w.Post(ctx, nil, replaceStructure, cp.Structure, n); err != nil {
			return err
		}
	}
	return nil
}

// writeLabels sets labels; an empty value deletes the label.
func writeLabels(ctx context.Context, w *session, n int64, cp *backend.Checkpoint, has *parts) error {
	if len(cp.Labels) == 0 {
		return nil
	}
	*has |= hasLabels
	rest := endingOf(&cp.Head)
	for key, value := range cp.Labels {
		var err error
		if value == "" {
			err = w.Post(ctx, nil, deleteLabel, n, key)
		} else {
			err = w.Post(ctx, nil, replaceLabel, n, key, value, rest.class(), micros(rest.ended))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeChildren(ctx context.Context, w *session, cp *backend.Checkpoint) error {
	for _, child := range cp.Children {
		if child.Due.IsZero() {
			child.Due = cp.Head.Time
		}
		if _, err := createRun(ctx, w, &child, nil); err != nil {
			return err
		}
	}
	return nil
}
