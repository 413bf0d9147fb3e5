package view

import (
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
)

// Why explains to people why a run is in its current state, with times in the user's time zone.
func Why(w *inspect.Diagnosis, now time.Time) []string {
	return w.Sentences(now.Local()) //nolint:gosmopolitan // the user's own zone is meant
}

// Standing says how a run stands, and what keeps it from going on, see [inspect.Diagnosis.Standing].
func Standing(w *inspect.Diagnosis, now time.Time) []string {
	return w.Standing(now.Local()) //nolint:gosmopolitan // the user's own zone is meant
}

// Hindrance says why no process drives a run that could go on; "" if there is no such reason.
func Hindrance(w *inspect.Diagnosis, now time.Time) string {
	return w.Hindrance(now.Local()) //nolint:gosmopolitan // the user's own zone is meant
}

// JobWait says what a job waits for.
func JobWait(one *inspect.JobWait, now time.Time) string {
	return one.Sentence(now.Local()) //nolint:gosmopolitan // the user's own zone is meant
}
