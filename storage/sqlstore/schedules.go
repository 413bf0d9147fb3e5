package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	putSchedule = `INSERT INTO schedules (id, spec, flow, version, priority, catch_up, paused, created, next, last,
		mark, input, needs, labels)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (id) DO UPDATE SET spec = excluded.spec, flow = excluded.flow, version = excluded.version,
priority = excluded.priority,
  catch_up = excluded.catch_up, mark = excluded.mark, input = excluded.input, needs = excluded.needs,
  labels = excluded.labels,
  next = CASE WHEN schedules.spec = excluded.spec THEN schedules.next ELSE excluded.next END`
	moveSchedule    = `UPDATE schedules SET next = $1, last = $2, paused = $3, mark = $4 WHERE id = $5 AND mark = $6`
	deleteSchedule  = `DELETE FROM schedules WHERE id = $1`
	selectSchedules = `SELECT id, spec, flow, version, priority, catch_up, paused, created, next, last, mark, input,
		needs, labels FROM schedules`
	selectSchedule = selectSchedules + ` WHERE id = $1`
	listSchedules  = selectSchedules + ` WHERE id > $1 ORDER BY id LIMIT $2 + 0`
	countSchedules = `SELECT count(*) FROM schedules WHERE id <> $1`
	dueSchedules   = selectSchedules + ` WHERE next <= $1 AND NOT paused AND (next, id) > (CAST($2 AS BIGINT), $3)
ORDER BY next, id LIMIT $4 + 0`
	nextSchedule = `SELECT min(next) FROM schedules WHERE next > $1 AND NOT paused`
)

type scheduleRow struct {
	unread

	ID       string `db:"id"`
	Spec     string `db:"spec"`
	Flow     string `db:"flow"`
	Version  int64  `db:"version"`
	Priority int    `db:"priority"`
	CatchUp  int    `db:"catch_up"`
	Paused   bool   `db:"paused"`
	Created  moment `db:"created"`
	Next     moment `db:"next"`
	Last     moment `db:"last"`
	Mark     string `db:"mark"`
	Input    []byte `db:"input"`
	Needs    []byte `db:"needs"`
	Labels   []byte `db:"labels"`
}

func (r *scheduleRow) schedule() (backend.Schedule, error) {
	s := backend.Schedule{
		ID: r.ID, Spec: r.Spec, Flow: r.Flow, Version: r.Version, Input: r.Input, Priority: r.Priority, CatchUp: r.CatchUp,
		Paused: r.Paused, Created: r.Created.time(), Next: r.Next.time(), Last: r.Last.time(), Mark: r.Mark,
	}
	if r.damage != nil {
		return s, fmt.Errorf("%w (schedule %q)", r.damage, r.ID)
	}
	if err := errors.Join(decodeLabels(r.Needs, &s.Needs), decodeLabels(r.Labels, &s.Labels)); err != nil {
		return s, fmt.Errorf("%w: labels of schedule %q: %w", storage.ErrCorrupt, r.ID, err)
	}
	return s, nil
}

// listed is schedule for a list, in which a damaged record does not hide the others.
func (r *scheduleRow) listed() backend.Schedule {
	s, err := r.schedule()
	if err != nil {
		return backend.Schedule{ID: r.ID, Next: r.Next.time(), Err: err}
	}
	return s
}

// encodeLabels returns the text that decodeLabels reads; nil if there are no labels.
func encodeLabels(labels map[string]string) ([]byte, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	return json.Marshal(labels)
}

func decodeLabels(data []byte, labels *map[string]string) error {
	if data == nil {
		return nil
	}
	return json.Unmarshal(data, labels)
}

// PutSchedule implements [backend.Schedules.PutSchedule].
func (s *store) PutSchedule(ctx context.Context, is backend.Schedule) error {
	if err := is.Check(); err != nil {
		return err
	}
	needs, err := encodeLabels(is.Needs)
	if err != nil {
		return err
	}
	labels, err := encodeLabels(is.Labels)
	if err != nil {
		return err
	}
	return s.change(ctx, &write{
		do: func(ctx context.Context, w *session) error {
			var others int
			if err := w.Get(ctx, &others, countSchedules, is.ID); err != nil {
				return err
			}
			if err := rules.CheckSchedules(others + 1); err != nil {
				return err
			}
			_, err := w.Exec(ctx, putSchedule, is.ID, is.Spec, is.Flow, is.Version, is.Priority, is.CatchUp, is.Paused,
				s.dialect.orNow(is.Created).UnixMicro(), micros(is.Next), micros(is.Last), uuid.NewString(), []byte(is.Input),
				needs, labels)
			return err
		},
		arrivals: wakeup.Moves,
	})
}

// MoveSchedule implements [backend.Schedules.MoveSchedule].
func (s *store) MoveSchedule(ctx context.Context, move backend.ScheduleMove) error {
	if err := move.Check(); err != nil {
		return err
	}
	now := s.Now()
	inserts := make([][]any, len(move.Jobs))
	for i := range move.Jobs {
		job := rules.Posted(&move.Jobs[i], now)
		var err error
		if inserts[i], err = jobArgs(&job); err != nil {
			return err
		}
	}
	mark := uuid.NewString()
	return s.change(ctx, &write{
		do: func(ctx context.Context, w *session) error {
			done, err := w.Exec(ctx, moveSchedule, micros(move.Next), micros(move.Last), move.Paused, mark, move.ID, move.Mark)
			if err != nil {
				return err
			}
			if done == 0 {
				return unmoved(ctx, w, move.ID)
			}
			for _, args := range inserts {
				if _, err := w.Exec(ctx, insertJob[w.dialect.db], args...); err != nil {
					return err
				}
			}
			return nil
		},
		arrivals: wakeup.Moves,
	})
}

// unmoved returns why MoveSchedule changed no schedule.
func unmoved(ctx context.Context, w *session, id string) error {
	var row scheduleRow
	if err := w.Get(ctx, &row, selectSchedule, id); err != nil {
		return notFound(err, "schedule", id)
	}
	return fmt.Errorf("%w: schedule %q", storage.ErrFenced, id)
}

// DeleteSchedule implements [backend.Schedules.DeleteSchedule].
func (s *store) DeleteSchedule(ctx context.Context, id string) error {
	return s.change(ctx, &write{do: func(ctx context.Context, w *session) error {
		done, err := w.Exec(ctx, deleteSchedule, id)
		if err == nil && done == 0 {
			err = notFound(storage.ErrNotFound, "schedule", id)
		}
		return err
	}})
}

// Schedule implements [backend.Schedules.Schedule].
func (s *store) Schedule(ctx context.Context, id string) (is backend.Schedule, err error) {
	err = s.view(ctx, func(r *session) error {
		var row scheduleRow
		if err := r.Get(ctx, &row, selectSchedule, id); err != nil {
			return notFound(err, "schedule", id)
		}
		is, err = row.schedule()
		return err
	})
	return is, err
}

// Schedules implements [backend.Schedules.Schedules].
func (s *store) Schedules(ctx context.Context, q backend.ScheduleQuery) (list []backend.Schedule, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		list, _, err = schedulePage(ctx, r, q.Limit, listSchedules, q.After)
		return err
	})
	return list, err
}

// schedulePage returns a page of the schedules that a query selects, and whether there may be more. The last argument
// of the query is how many it selects.
func schedulePage(ctx context.Context, r *session, limit int, query string, args ...any) (
	list []backend.Schedule, more bool, err error,
) {
	space := codec.NewSpace(limit)
	err = r.EachOnce(ctx, query, append(args, limitOr(limit)), func(found *sqlx.Rows) (bool, error) {
		var row scheduleRow
		if err := scanRow(found, &row); err != nil {
			return false, err
		}
		one := row.listed()
		if err := legible("schedule", row.ID); err != nil { // no page could follow it
			return r.dialect.damage.leftOut(err), nil
		}
		list = append(list, one)
		space.Take(codec.SizeOfSchedule(&one))
		more = space.Full()
		return !more, nil
	})
	return list, more, err
}

// DueSchedules implements [backend.Schedules.DueSchedules].
func (s *store) DueSchedules(ctx context.Context, after backend.Schedule, limit int,
) (due []backend.Schedule, now, next time.Time, err error) {
	err = s.view(ctx, func(r *session) error {
		var err error
		if now, err = r.now(ctx); err != nil {
			return err
		}
		var more bool
		due, more, err = schedulePage(ctx, r, limit, dueSchedules, now.UnixMicro(), after.Next.UnixMicro(), after.ID)
		switch {
		case err != nil:
			return err
		case more:
			next = now
		default:
			next, err = r.earliest(ctx, nextSchedule, now)
		}
		return err
	})
	return due, now, next, err
}
