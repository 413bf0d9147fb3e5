package rules

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

// CheckKey returns ErrInvalid, saying what is wrong, when the key cannot be that
// of a transaction.
func CheckKey(key string) error {
	if key == "" || len(key) > storage.MaxKey {
		return fmt.Errorf("%w: the key of a transaction, %.20q, has %d bytes; want 1 to %d", storage.ErrInvalid, key, len(key), storage.MaxKey)
	}
	return nil
}

// CheckLabeled returns ErrInvalid when a key, or the value, cannot be that of a label.
func CheckLabeled(value string, keys []string) error {
	for _, key := range keys {
		if err := storage.CheckLabel(key, value); err != nil {
			return err
		}
	}
	return nil
}

// LastArrivals returns the last arrival of each run, in the order of these arrivals.
// It overwrites its argument.
func LastArrivals(arrivals []storage.Arrival) []storage.Arrival {
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
