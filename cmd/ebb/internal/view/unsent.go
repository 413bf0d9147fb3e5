package view

import (
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
)

// Unsent describes the state of a message, and how to send it again if it is parked.
func Unsent(m *inspect.Unsent, now time.Time) string {
	return m.Sentence(now.Local()) //nolint:gosmopolitan // the user's own zone is meant
}
