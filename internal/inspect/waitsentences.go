package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// worker names the worker that has the work of a token, or the kind of worker that the work waits for.
func worker(one *Wait, now time.Time) string {
	kind := quoted(one.Work)
	switch {
	case one.Worker == "":
		return "a worker that asks for " + kind
	case !one.Lease.IsZero() && !one.Lease.After(now):
		return fmt.Sprintf("another worker that asks for %s, because no heartbeat arrived from %s", kind, quoted(one.Worker))
	case one.Worker == backend.Anonymous:
		return "a worker, which does " + kind
	default:
		return fmt.Sprintf("the worker %s, which does %s", quoted(one.Worker), kind)
	}
}

// unasked says that no worker asks for work.
func unasked(one *Wait) string {
	if one.Unasked {
		return " No worker asks for it."
	}
	return ""
}

// reported says what the worker of a token has reported with its heartbeats.
func reported(one *Wait) string {
	text := ""
	if one.Progress > 0 {
		text = fmt.Sprintf(" Its progress is %.0f %%.", 100*one.Progress)
	}
	if one.Details != nil {
		text += fmt.Sprintf(" It reported %.200s.", visible.Line(string(one.Details.JSON())))
	}
	return text
}

// limits describes the time limit of a token.
var limits = map[string]string{
	storage.ScheduleToStart.String(): ", by when a worker must take it",
	storage.StartToClose.String():    ", which is how long it may take",
	storage.HeartbeatLimit.String():  ", unless a heartbeat arrives before",
}

// sentenceOf describes one wait.
func sentenceOf(w *Diagnosis, one *Wait, now time.Time) string {
	name := visible.Line(one.Path)
	switch one.Kind {
	case WaitsForExecution:
		return called(w, name, "executed", one, now)
	case WaitsForRevert:
		return called(w, name, "undone", one, now)
	case WaitsForSignal:
		return fmt.Sprintf("%s waits for the signal %s%s%s.", name, visible.Line(one.Name), since(one.Since, now),
			until(one.Due, now))
	case WaitsForToken:
		return fmt.Sprintf("%s waits for the holder of its token%s%s%s.", name, since(one.Since, now), until(one.Due, now),
			limits[one.Timeout]) + reported(one)
	case WaitsForRun:
		return fmt.Sprintf("%s waits for the run %s%s.", name, quoted(one.Child), since(one.Since, now))
	case WaitsForWorker:
		if w.undoes(one.Path) {
			name = "The undo of " + name
		}
		return fmt.Sprintf("%s waits for %s%s%s%s.", name, worker(one, now), since(one.Since, now), until(one.Due, now),
			limits[one.Timeout]) + unasked(one) + reported(one)
	case WaitsForTime:
		return fmt.Sprintf("%s waits%s.", name, strings.TrimPrefix(until(one.Due, now), ","))
	case WaitsForRetry:
		return fmt.Sprintf("%s is retried%s, as attempt %d%s.", name, at(one.Due, now), one.Attempt, after(one))
	case WaitsForUndoAgain:
		return fmt.Sprintf("%s is undone again%s, as attempt %d%s.", name, at(one.Due, now), one.Attempt,
			after(one))
	case WaitsForMending:
		return fmt.Sprintf("%s could not be undone%s.", name, after(one))
	case WaitsForMessage:
		return fmt.Sprintf("It listens for a message%s, such as a signal.", since(one.Since, now))
	case WaitsForDeadline:
		return fmt.Sprintf("Its time is up%s.", at(one.Due, now))
	case WaitsForReading:
		return inInbox(one, now)
	default:
		return one.hinders(now)
	}
}

// undoes reports whether an atom is being reverted.
func (w *Diagnosis) undoes(path string) bool {
	return slices.ContainsFunc(w.Atoms, func(a storage.Atom) bool {
		return a.Path == path && a.State == states.TaskReverting
	})
}

// called describes an atom whose call is running or was interrupted.
func called(w *Diagnosis, name, how string, one *Wait, now time.Time) string {
	which := ""
	if one.Attempt > 1 {
		which = fmt.Sprintf(", attempt %d", one.Attempt)
	}
	if one.Task != "" {
		name += " (" + visible.Line(one.Task) + ")"
	}
	if w.Alive() {
		return fmt.Sprintf("%s is being %s%s%s.", name, how, since(one.Since, now), which)
	}
	return fmt.Sprintf("%s was being %s%s%s; how that ended is unknown, so it is %s again under the same key.",
		name, how, since(one.Since, now), which, how)
}

func inInbox(one *Wait, now time.Time) string {
	what := visible.Line(string(one.Message))
	if one.Name != "" && one.Message != backend.MessageToken {
		what += " " + visible.Line(one.Name)
	}
	if one.Path != "" {
		what += " for " + visible.Line(one.Path)
	}
	text := fmt.Sprintf("In its inbox is: %s%s", what, since(one.Since, now))
	if one.Unheard {
		text += "; nothing waits for it now"
	}
	return text + "."
}
