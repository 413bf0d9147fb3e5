package inspect

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/internal/visible"
)

// Sentence describes the state of a message, and how to send it again if it is parked.
func (m *Unsent) Sentence(now time.Time) string {
	to := ""
	if m.Target != "" {
		to = " to " + visible.Line(redact.URL(m.Target))
	}
	text := fmt.Sprintf("The message %s%s waits to be sent.", visible.Line(m.ID), to)
	failed := fmt.Sprintf("%s, the last time because of: %s", times(m.Attempts), visible.Line(redact.Text(m.Error)))
	switch {
	case m.Parked:
		text = fmt.Sprintf("The message %s%s is parked: it was sent in vain %s. It is sent again with: ebb retry "+
			"--messages %s",
			visible.Line(m.ID), to, failed, visible.Line(m.Run))
	case m.Error != "":
		text = fmt.Sprintf("The message %s%s is sent again%s; it was sent in vain %s.", visible.Line(m.ID), to,
			at(m.NotUntil, now), failed)
	}
	switch m.Behind {
	case 0:
	case 1:
		text += " (1 more waits behind it)"
	default:
		text += fmt.Sprintf(" (%d more wait behind it)", m.Behind)
	}
	return text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
