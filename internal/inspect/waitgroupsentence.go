package inspect

import (
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
)

// Sentence describes for people what the runs of the group wait for.
func (w *WaitGroup) Sentence() string {
	name := quoted(w.Name)
	switch w.Kind {
	case WaitsForPerson:
		return "a person: an undo failed, or Ebb or the flow asks what to do"
	case WaitsForDatabase:
		return "the database, which takes no writes"
	case WaitsForProcess:
		return "a process that serves " + name
	case WaitsForFlow:
		return "a process that can drive " + name + ": one has refused them"
	case WaitsForOffer:
		return "a process that offers " + visible.Line(w.Name)
	case WaitsForStopped:
		return "a process that drives " + name + ", and was stopped"
	case WaitsForMemory:
		return "a process that serves " + name + ": its memory is used up"
	case WaitsForIsolation:
		return "a process that serves " + name + ": it tries a run that may kill it"
	case WaitsForSlot:
		return "a slot of a process that serves " + name
	case WaitsForTake:
		return "a process that takes up " + name + " now"
	case WaitsForParkedJob:
		return "an operator: the jobs failed too often"
	case WaitsForClaimer:
		return "a process that claims jobs of " + name + claimLacks[w.Lacks]
	case WaitsForParked:
		return "an operator: messages to " + name + " were sent in vain"
	case WaitsForOperator:
		return "an operator, who suspended them"
	case WaitsForPlace:
		return "a limit: " + visible.Line(w.Name)
	case WaitsForWorker:
		return "workers of " + name + w.workers()
	case WaitsForToken:
		return "the holders of tokens of " + name
	case WaitsForSignal:
		return "the signal " + name
	case WaitsForEvent:
		return "the event " + name
	case WaitsForMessage:
		return "a message or an event for " + name
	case WaitsForRun:
		return "the runs that " + name + " began"
	case WaitsForRetry:
		return "a retry, " + w.soon()
	case WaitsForUndoAgain:
		return "a retry of undo, " + w.soon()
	case WaitsForTime:
		return "a timer, " + w.soon()
	case WaitsForDeadline:
		return "their deadline, " + w.soon()
	case WaitsForRevert:
		return "tasks of " + name + " that are being undone"
	default:
		return "tasks of " + name + " that execute"
	}
}

// claimLacks says why no process has claimed jobs, by what they wait for.
var claimLacks = map[WaitKind]string{
	WaitsForProcess: ": no process serves it", WaitsForOffer: ": no process offers what they need",
	WaitsForSlot: ": no slot is free", WaitsForMemory: ": the memory of the one that serves it is used up",
	WaitsForIsolation: ": the one that serves it tries a run that may kill it",
	WaitsForPlace:     ": a limit holds them back", WaitsForRate: ": a rate holds them back",
	WaitsForDatabase: ": the database takes no writes",
}

// soon says how soon the time of the group comes.
func (w *WaitGroup) soon() string {
	if w.Name == later {
		return "in more than 1d"
	}
	return w.Name
}

// workers says how much of the work workers have, and which workers ask for more.
func (w *WaitGroup) workers() string {
	has, who := "", "a worker without a name asks"
	if w.Taken > 0 {
		has = fmt.Sprintf(", which have %d", w.Taken)
	}
	var names []string
	for _, worker := range w.Workers {
		if worker != backend.Anonymous {
			names = append(names, quoted(worker))
		}
	}
	switch {
	case w.Unasked && w.Taken > 0:
		return has + "; no worker asks for more"
	case w.Unasked:
		return "; no worker asks for it"
	case len(names) == 1:
		who = names[0] + " asks"
	case len(names) > 1:
		who = strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " ask"
	}
	return has + "; " + who + " for it"
}
