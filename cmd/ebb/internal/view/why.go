package view

import (
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
)

// Why explains to people why a run is in its current state, with times in the user's time zone.
func Why(w *inspect.Diagnosis, now time.Time) []string {
	return w.Sentences(now.Local()) //nolint:gosmopolitan // the user's own zone is meant
}
