package sqlstore

import (
	"context"
	"errors"
	"time"
)

// Hear examines whether notifications arrive, for no longer than that.
func Hear(ctx context.Context, dsn string, patience time.Duration) error {
	s, err := serverOf(dsn)
	if err != nil {
		return err
	}
	s.open()
	return errors.Join(s.hear(ctx, patience), s.db.Close())
}

// ServerNow is the server's time as far as the store knows it.
func (s *Store) ServerNow() time.Time { return s.keeper.watch.now() }

// Die lets what the store owns be a dead process's.
func Die(ctx context.Context, s *Store) error {
	ghost := s.owner.ID + "-dead"
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		insert, args := registerOwner, []any{ghost, s.owner.Host, s.owner.PID, micros(s.owner.Started), micros(s.owner.Seen)}
		if s.keeper != nil { // its lease has run out
			insert = `INSERT INTO owners (id, host, pid, started, seen, machine, lease) VALUES (?, ?, ?, ?, ?, '', 1)`
		}
		if _, err := w.exec(ctx, insert, args...); err != nil {
			return err
		}
		_, err := w.exec(ctx, `UPDATE runs SET owner = ? WHERE owner = ?`, ghost, s.owner.ID)
		return err
	}})
}
