package backend

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/storage"
)

// Keys is the part of a [Reader] that finds open runs by their keys. A run may have a key, see [storage.Run.Key]. It
// holds the key while it is open: the commit that creates the run takes the key, and the commit that ends the run
// releases it. At most one run holds a key, over all processes. A run that was reopened holds its key only if the
// commit that reopened it took it, see [Checkpoint.TakeKey].
type Keys interface {
	// OpenRun returns the id of the run that holds the key. If no run holds it, OpenRun returns ErrNotFound.
	OpenRun(ctx context.Context, key string) (id string, err error)
	// StrayKeys returns up to limit keys that are held by a run which has ended or does not exist; 0 means all. Only a
	// damaged database has any.
	StrayKeys(ctx context.Context, limit int) ([]string, error)
}

// checkKey returns ErrInvalid if a run cannot have the key.
func checkKey(key string) error {
	if len(key) > MaxID {
		return fmt.Errorf("%w: the key %.20q… of a run is longer than %d bytes", storage.ErrInvalid, key, MaxID)
	}
	return checkTexts(key)
}
