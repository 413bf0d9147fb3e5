package rules

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// CheckKey returns ErrInvalid with the reason if the key cannot be the key of a transaction.
func CheckKey(key string) error {
	if key == "" || len(key) > backend.MaxKey {
		return fmt.Errorf("%w: the key of a transaction, %.20q, has %d bytes; want 1 to %d", storage.ErrInvalid, key,
			len(key), backend.MaxKey)
	}
	return nil
}

// CheckLabeled returns ErrInvalid if one of the keys, or the value, cannot be a label's.
func CheckLabeled(value string, keys []string) error {
	for _, key := range keys {
		if err := backend.CheckLabel(key, value); err != nil {
			return err
		}
	}
	return nil
}

// LastArrivals returns the last arrival of each run, in their order. It overwrites its argument.
func LastArrivals(arrivals []backend.Arrival) []backend.Arrival {
	named := make(map[string]bool, len(arrivals))
	kept := len(arrivals)
	for _, waiting := range slices.Backward(arrivals) {
		if !named[waiting.Run] {
			named[waiting.Run] = true
			kept--
			arrivals[kept] = waiting
		}
	}
	return arrivals[kept:]
}

// CheckWrites returns ErrInvalid with the reason if the writes of named records cannot be applied together.
func CheckWrites(writes []storage.RecordWrite) error {
	if len(writes) > backend.MaxRecordWrites {
		return fmt.Errorf("%w: %d writes of records at once; at most %d are possible", storage.ErrInvalid, len(writes),
			backend.MaxRecordWrites)
	}
	met := make(map[[2]string]bool, len(writes))
	for i := range writes {
		w := &writes[i]
		if err := backend.CheckRecordWrite(w); err != nil {
			return err
		}
		name := [2]string{w.Kind, w.Key}
		if met[name] {
			return fmt.Errorf("%w: two writes of record %.80q of kind %q", storage.ErrInvalid, w.Key, w.Kind)
		}
		met[name] = true
	}
	return nil
}

// CheckRevision returns a *storage.ConflictError if the record of a write does not have the revision that the write
// requires.
func CheckRevision(w *storage.RecordWrite, revision int64) error {
	if w.Was == storage.AnyRevision {
		return nil
	}
	check := storage.RecordCheck{Kind: w.Kind, Key: w.Key, Revision: w.Was}
	return check.Against(revision)
}
