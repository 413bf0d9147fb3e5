package sqlstore

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// Step implements [backend.Driver.Step].
func (s *store) Step(ctx context.Context, run string, step func(*backend.Snapshot) (*backend.Checkpoint, error)) error {
	var dead *filelock.Lock
	var made *backend.Checkpoint
	remember := func(snap *backend.Snapshot) (cp *backend.Checkpoint, err error) {
		cp, err = step(snap)
		made = cp
		return cp, err
	}
	err := s.update(ctx, &write{
		alone: true, checkpoint: true,
		do: func(ctx context.Context, w *session) (err error) {
			dead, err = s.step(ctx, w, run, remember)
			if err != nil && dead != nil {
				err = errors.Join(err, dead.Close())
				dead = nil
			}
			return err
		},
		then: func() {
			if made != nil {
				s.hub.Committed(run, made)
			}
		},
		arrivals: wakeup.Moves,
	})
	if dead != nil {
		err = errors.Join(err, dead.Remove())
	}
	return err
}

func (s *store) step(ctx context.Context, w *session, run string,
	step func(*backend.Snapshot) (*backend.Checkpoint, error),
) (*filelock.Lock, error) {
	if err := w.hold(ctx, run); err != nil {
		return nil, err
	}
	row, err := findRun(ctx, w, run)
	if err != nil {
		return nil, err
	}
	dead, err := s.take(ctx, w, row, "", 0)
	if err != nil {
		return dead, err
	}
	snap, err := load(ctx, w, row)
	if err != nil {
		return dead, err
	}
	cp, err := step(snap)
	if cp == nil || err != nil {
		return dead, err
	}
	if err := cp.Check(); err != nil {
		return dead, err
	}
	if err := rules.Continues(cp, &snap.Run); err != nil {
		return dead, err
	}
	return dead, writeStep(ctx, w, row, cp)
}

// writeStep writes the checkpoint of a Step after its check.
func writeStep(ctx context.Context, w *session, row *runRow, cp *backend.Checkpoint) error {
	rest := endingOf(&cp.Head)
	turn, err := inline.Records(row.Recent).Turn(&w.scratch, cp)
	if err != nil {
		return err
	}
	args := rest.args(append(countArgs(w, cp), []byte(turn.Row)))
	if err := w.Post(ctx, nil, stepRun[w.dialect.db], append(args, micros(cp.Head.Due), row.N)...); err != nil {
		return err
	}
	has, err := writeContents(ctx, w, row.N, row.ID, cp, &turn, row.parts())
	if before := row.ending(); err != nil || has&hasLabels == 0 || !rest.movesFrom(&before) {
		return err
	}
	return rest.moveLabels(ctx, w, row.N)
}
