package rules

import (
	"fmt"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// CheckSchedules returns an error if so many schedules are more than a store keeps.
func CheckSchedules(n int) error {
	if n > backend.MaxSchedules {
		return fmt.Errorf("%w: a database keeps at most %d schedules: remove one (ebb schedule remove)", storage.ErrInvalid,
			backend.MaxSchedules)
	}
	return nil
}

// CheckDefinitions returns an error if so many definitions are more than a store keeps.
func CheckDefinitions(n int) error {
	if n > backend.MaxDefinitions {
		return fmt.Errorf("%w: a database keeps at most %d definitions, with all versions: use those that are stored, or "+
			"another database", storage.ErrInvalid, backend.MaxDefinitions)
	}
	return nil
}
