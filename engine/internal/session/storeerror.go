package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/storage"
)

// A StoreError is returned if the store failed.
type StoreError struct {
	Run string
	Err error
}

// Error names the run and gives the store's error, without the prefix of the package and the name of the run.
func (e *StoreError) Error() string {
	why := strings.TrimPrefix(e.Err.Error(), "storage: ")
	why = strings.TrimSuffix(why, fmt.Sprintf(": run %q", e.Run))
	switch {
	case errors.Is(e.Err, storage.ErrExists):
		return fmt.Sprintf("engine: run %q: %s; choose another id, or call Run, which continues it", e.Run, why)
	case errors.Is(e.Err, storage.ErrNotFound), errors.Is(e.Err, storage.ErrConflict):
		return fmt.Sprintf("engine: run %q: %s", e.Run, why)
	default:
		return fmt.Sprintf("engine: run %q stopped at its last checkpoint: %s", e.Run, why)
	}
}

// Unwrap returns the store's error.
func (e *StoreError) Unwrap() error { return e.Err }

// Wrap returns an error of the store as a *[StoreError] of the run, and nil for nil.
func Wrap(run string, err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Run: run, Err: err}
}
