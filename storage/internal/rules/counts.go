package rules

import (
	"fmt"

	"github.com/ebbflow/ebb/storage"
)

// CheckSchedules returns an error if a store has no room for so many schedules.
func CheckSchedules(n int) error {
	if n > storage.MaxSchedules {
		return fmt.Errorf("%w: a database keeps at most %d schedules: remove one (ebb schedule remove)", storage.ErrInvalid,
			storage.MaxSchedules)
	}
	return nil
}

// CheckDefinitions returns an error if a store has no room for so many definitions.
func CheckDefinitions(n int) error {
	if n > storage.MaxDefinitions {
		return fmt.Errorf("%w: a database keeps at most %d definitions, with all versions: use those that are stored, or "+
			"another database", storage.ErrInvalid, storage.MaxDefinitions)
	}
	return nil
}
