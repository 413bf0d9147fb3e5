package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// A loading is a run whose snapshot is being read. On a server, the rows of all loadings that were posted arrive
// together.
type loading struct {
	*runRow

	labels   []labelRow
	atoms    []inline.Row
	messages []messageRow
	tokens   []tokenRow
	timers   []timerRow
	err      error // why rows could not be decoded
}

// load reads the snapshot with which a process resumes a run.
func load(ctx context.Context, s *session, row *runRow) (*backend.Snapshot, error) {
	l, err := startLoading(ctx, s, row)
	if err != nil {
		return nil, err
	}
	return l.snapshot(ctx, s)
}

// startLoading reads the rows of one run.
func startLoading(ctx context.Context, s *session, row *runRow) (*loading, error) {
	l := &loading{runRow: row}
	if err := l.post(ctx, s); err != nil {
		return nil, err
	}
	return l, s.Flush(ctx)
}

// startLoadings returns loadings of some runs. If whole is true, it reads their rows.
func startLoadings(ctx context.Context, s *session, rows []runRow, whole bool) ([]loading, error) {
	all := make([]loading, len(rows))
	for i := range rows {
		all[i].runRow = &rows[i]
		if !whole {
			continue
		}
		if err := all[i].post(ctx, s); err != nil {
			return nil, err
		}
	}
	return all, s.Flush(ctx)
}

// post asks for the rows of each table that may have some. They are there after the next Flush.
func (l *loading) post(ctx context.Context, s *session) error {
	for _, part := range [...]struct {
		is    parts
		what  string
		rows  any
		query string
		args  []any
	}{
		{hasLabels, "labels", &l.labels, selectLabels, []any{l.N}},
		{hasAtoms, "atoms", &l.atoms, selectLiveAtoms, []any{l.N, "", limitOr(0)}},
		{hasMessages, "messages", &l.messages, selectMessages, []any{l.N, 0, math.MaxInt}},
		{hasTokens, "tokens", &l.tokens, selectOpenTokens, []any{l.N}},
		{hasTimers, "timers", &l.timers, selectRunTimers, []any{l.N}},
	} {
		if l.Has&part.is == 0 {
			continue
		}
		decoded := func(err error) error {
			if err = corrupt(err); !errors.Is(err, storage.ErrCorrupt) {
				return err
			}
			if l.err == nil {
				l.err = fmt.Errorf("%s: %w", part.what, err)
			}
			return nil
		}
		if err := s.PostRead(ctx, part.rows, decoded, part.query, part.args...); err != nil {
			return err
		}
	}
	return nil
}

// snapshot decodes the rows. It reads large values from their table. The error of a row that cannot be read names it.
func (l *loading) snapshot(ctx context.Context, s *session) (*backend.Snapshot, error) {
	snap, err := l.decodeAll(ctx, s)
	return snap, ofRun(l.ID, err)
}

func (l *loading) decodeAll(ctx context.Context, s *session) (*backend.Snapshot, error) {
	if l.err != nil {
		return nil, l.err
	}
	run, err := l.decode(ctx, s, false)
	if err != nil {
		return nil, err
	}
	if l.Has&hasLabels != 0 {
		run.Labels = labelsFrom(l.labels)
	}
	snap := &backend.Snapshot{Run: run}
	newest, err := inline.Records(l.Recent).ByPath()
	if err != nil {
		return nil, err
	}
	live := inline.Over(l.atoms, newest, func(_ string, a *inline.Atom) bool { return a.IsLive() })
	if snap.Atoms, err = decodeAtoms(live, 0, payloadsOf(ctx, s, l.N)); err != nil {
		return nil, err
	}
	if snap.Messages, err = all(l.messages, messagesOf(l.ID)); err != nil {
		return nil, err
	}
	if snap.Tokens, err = all(l.tokens, (*tokenRow).token); err != nil {
		return nil, err
	}
	if snap.Timers, err = all(l.timers, timersOf(l.ID)); err != nil {
		return nil, err
	}
	snap.Timers = byDue(snap.Timers)
	return snap, nil
}
