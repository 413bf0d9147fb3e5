package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
)

// patience is how long a server may take until it drives a run that is due.
const patience = 10 * time.Second

// hinders describes a hindrance of a run or job. Of other waits it returns "".
func (one *Wait) hinders(now time.Time) string {
	due := "It could go on"
	if !one.Since.IsZero() {
		due = "It is due" + since(one.Since, now)
	}
	switch one.Kind {
	case WaitsForProcess:
		return due + ", and no process serves its flow " + visible.Line(one.Flow) + one.server()
	case WaitsForOffer:
		return due + ", and no process offers what it needs: " + visible.Line(strings.Join(one.Needs, ", ")) + "."
	case WaitsForFlow:
		who := upper(one.Process.String())
		if !one.Process.Alive {
			who += ", which has ended,"
		}
		if one.Since.IsZero() {
			return fmt.Sprintf("%s serves the flow %s, but %s.", who, visible.Line(one.Flow), one.Reason)
		}
		return fmt.Sprintf("%s refused it at %s (%s ago): %s.", who, one.Since.In(now.Location()).Format(whyTime),
			FormatDuration(now.Sub(one.Since)), strings.TrimSuffix(one.Reason, "."))
	case WaitsForSlot:
		return fmt.Sprintf("%s. %s serves it, and takes it up when a slot is free: all its slots (%d) are taken. Start "+
			"another process, or give it more slots (ebb serve --slots, engine.WithSlots).",
			due, upper(one.Process.String()), one.slots)
	case WaitsForMemory:
		return fmt.Sprintf("%s. %s serves it, but takes up no run now: it uses more memory than its budget. Start another "+
			"process, or give it more memory.", due, upper(one.Process.String()))
	case WaitsForIsolation:
		return fmt.Sprintf("%s. %s serves it, but takes up no other run now: it tries a run that may kill its process.", due,
			upper(one.Process.String()))
	case WaitsForTake:
		if !one.Since.IsZero() && now.Sub(one.Since) > patience {
			return fmt.Sprintf("%s. %s serves it, and has not taken it up yet: look into its log.", due,
				upper(one.Process.String()))
		}
		return fmt.Sprintf("%s. %s takes it up now.", due, upper(one.Process.String()))
	case WaitsForDatabase:
		return fmt.Sprintf("The database takes no writes: %s. Nothing goes on until it does.", one.Reason)
	case WaitsForStopped:
		return fmt.Sprintf("%s was stopped: kill -CONT %d lets it continue. Or end it with kill -9 %d: then another process "+
			"can take the run over.", upper(one.Process.String()), one.Process.PID, one.Process.PID)
	case WaitsForPlace:
		if l := one.limited; l != nil {
			return fmt.Sprintf("It waits for a limit: %s; %d of them %s driven now. It goes on when one of them ends or waits.",
				visible.Line(one.Limit), l.Used, are(l.Used))
		}
		return fmt.Sprintf("It waits for a limit: %s.", visible.Line(one.Limit))
	case WaitsForRate:
		return fmt.Sprintf("It waits for a rate: %s; %d of them began in the last %v. The next may begin%s.",
			visible.Line(one.Limit), one.limited.Used, one.limited.Limit.Per, at(one.Due, now))
	default:
		return ""
	}
}

// server says which kind of process has the flow.
func (one *Wait) server() string {
	switch {
	case one.definition:
		return ". Start ebb serve."
	default:
		return ". Start the program that has the flow."
	}
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// upper returns a text that begins a sentence.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// way returns the command that removes a hindrance; "" if there is none to name.
func (one *Wait) way() string {
	switch {
	case one.Kind == WaitsForProcess && one.definition:
		return "ebb serve"
	case one.Kind == WaitsForOffer:
		words := make([]string, len(one.Needs))
		for i, need := range one.Needs {
			words[i] = visible.Word(need)
		}
		return "ebb serve --offer " + strings.Join(words, " --offer ")
	case one.limited != nil:
		l := &one.limited.Limit
		text := "ebb limit"
		if one.Kind == WaitsForPlace {
			text += fmt.Sprintf(" %d", l.Runs+1)
		}
		if l.Flow != "" {
			text += " --flow " + visible.Word(l.Flow)
		}
		if l.Label != "" {
			text += " --label " + visible.Word(l.Label)
		}
		if one.Kind == WaitsForRate {
			text += fmt.Sprintf(" --rate %d/%v", min(2*l.Rate, backend.MaxRate), l.Per)
		}
		return text
	default:
		return ""
	}
}
