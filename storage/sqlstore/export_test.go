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
