package backend

import (
	"errors"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage"
)

// LevelOf returns the level at which to log an error: debug if it shows that the database is unavailable. The store
// logs that once, whatever meets it.
func LevelOf(err error, level hclog.Level) hclog.Level {
	if errors.Is(err, storage.ErrUnavailable) {
		return hclog.Debug
	}
	return level
}
