package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

func copySchedule(s *backend.Schedule) backend.Schedule {
	c := *s
	c.Needs, c.Labels = maps.Clone(s.Needs), maps.Clone(s.Labels)
	return c
}

// PutSchedule implements [backend.Schedules.PutSchedule].
func (m *store) PutSchedule(ctx context.Context, s backend.Schedule) error {
	if err := s.Check(); err != nil {
		return err
	}
	if err := m.enterChange(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	s = copySchedule(&s)
	if s.Created.IsZero() {
		s.Created = time.Now()
	}
	if was := m.schedules[s.ID]; was != nil {
		s.Created, s.Last, s.Paused = was.Created, was.Last, was.Paused
		if s.Spec == was.Spec {
			s.Next = was.Next
		}
	} else if err := rules.CheckSchedules(len(m.schedules) + 1); err != nil {
		return err
	}
	s.Mark = uuid.NewString()
	m.schedules[s.ID] = &s
	m.changed(ctx)
	m.notify()
	return nil
}

// MoveSchedule implements [backend.Schedules.MoveSchedule].
func (m *store) MoveSchedule(ctx context.Context, move backend.ScheduleMove) error {
	if err := move.Check(); err != nil {
		return err
	}
	if err := m.enterChange(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	s := m.schedules[move.ID]
	switch {
	case s == nil:
		return fmt.Errorf("%w: schedule %q", storage.ErrNotFound, move.ID)
	case s.Mark != move.Mark:
		return fmt.Errorf("%w: schedule %q", storage.ErrFenced, move.ID)
	}
	s.Next, s.Last, s.Paused, s.Mark = move.Next, move.Last, move.Paused, uuid.NewString()
	for i := range move.Jobs {
		m.post(&move.Jobs[i])
	}
	m.changed(ctx)
	m.notify()
	return nil
}

// DeleteSchedule implements [backend.Schedules.DeleteSchedule].
func (m *store) DeleteSchedule(ctx context.Context, id string) error {
	if err := m.enterChange(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if m.schedules[id] == nil {
		return fmt.Errorf("%w: schedule %q", storage.ErrNotFound, id)
	}
	delete(m.schedules, id)
	m.changed(ctx)
	return nil
}

// Schedule implements [backend.Schedules.Schedule].
func (m *store) Schedule(ctx context.Context, id string) (backend.Schedule, error) {
	if err := m.enter(ctx); err != nil {
		return backend.Schedule{}, err
	}
	defer m.mu.Unlock()
	s := m.schedules[id]
	if s == nil {
		return backend.Schedule{}, fmt.Errorf("%w: schedule %q", storage.ErrNotFound, id)
	}
	return copySchedule(s), nil
}

// Schedules implements [backend.Schedules.Schedules].
func (m *store) Schedules(ctx context.Context, q backend.ScheduleQuery) ([]backend.Schedule, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []backend.Schedule
	space := codec.NewSpace(q.Limit)
	for _, id := range slices.Sorted(maps.Keys(m.schedules)) {
		if id > q.After && !space.Full() {
			out = append(out, copySchedule(m.schedules[id]))
			space.Take(codec.SizeOfSchedule(m.schedules[id]))
		}
	}
	return out, nil
}

// DueSchedules implements [backend.Schedules.DueSchedules].
func (m *store) DueSchedules(ctx context.Context, after backend.Schedule, limit int,
) (due []backend.Schedule, now, next time.Time, err error) {
	if err := m.enter(ctx); err != nil {
		return nil, now, next, err
	}
	defer m.mu.Unlock()
	now = time.Now()
	for _, s := range m.schedules {
		switch {
		case s.Next.IsZero() || s.Paused:
		case !s.Next.After(now):
			if byTick(*s, after) > 0 {
				due = append(due, copySchedule(s))
			}
		case next.IsZero() || s.Next.Before(next):
			next = s.Next
		}
	}
	slices.SortFunc(due, byTick)
	space := codec.NewSpace(limit)
	for i := range due {
		if space.Take(codec.SizeOfSchedule(&due[i])); space.Full() {
			return due[:i+1], now, now, nil
		}
	}
	return due, now, next, nil
}

func byTick(a, b backend.Schedule) int {
	return cmp.Or(a.Next.Compare(b.Next), strings.Compare(a.ID, b.ID))
}
