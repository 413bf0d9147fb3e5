package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A hindrance is why no process drives a run that could go on, or claims a job. Each kind is decided here, and nowhere
// else: lists, groups and reports ask for it.

// The kinds of hindrances. Their texts are stable parts of the JSON.
const (
	WaitsForProcess  WaitKind = "process" // a process that serves the flow: the run is due, and none drives it
	WaitsForFlow     WaitKind = "refused" // a process that can drive the run: one has refused it, for Reason
	WaitsForOffer    WaitKind = "offer"   // a process that offers what the run needs
	WaitsForSlot     WaitKind = "slot"    // a slot of a process: all are taken
	WaitsForMemory   WaitKind = "memory"  // memory of a process: its budget is used up
	WaitsForTrial    WaitKind = "trial"   // a process that tries whether another run kills it
	WaitsForTake     WaitKind = "take"    // a process that serves the flow takes it up
	WaitsForStopped  WaitKind = "stopped" // the process that drives it, which was stopped, continues or ends
	WaitsForPlace    WaitKind = "place"   // a place: as many runs are driven as a limit allows
	WaitsForOperator WaitKind = "resume"  // an operator, who suspended the run, resumes it
	WaitsForPerson   WaitKind = "person"  // a person decides, see [storage.Run.NeedsPerson]
)

// hindrance returns why no process drives the run although it could go on; nil if it goes on, or waits for something
// else.
func (w *Diagnosis) hindrance(now time.Time) *Wait {
	run := &w.Run
	due := !run.Due.IsZero() && !run.Due.After(now) || run.State == states.FlowPending && w.Place != nil
	one := &Wait{Kind: WaitsForProcess, Since: run.Due.UTC(), Flow: run.Flow}
	one.definition = w.ByServe || run.Definition != ""
	switch {
	case run.State.Ended():
		return nil
	case w.Alive() && w.Owner.Stopped:
		return &Wait{Kind: WaitsForStopped, Process: ownerOf(w.Owner)}
	case w.Alive():
		return nil
	case run.Hold || run.State == states.FlowSuspended:
		return w.held()
	case !due && run.Owner == "" && (w.Refusal == nil || w.Server != nil):
		return nil
	case !due:
		one.Since = time.Time{} // it is due since its owner has died
	}
	refusal := w.Refusal
	switch {
	case w.Place != nil && run.Owner == "":
		one.Kind, one.Limit, one.limited = WaitsForPlace, w.Place.Reason(), w.Place
	case w.Server != nil && (refusal == nil || refusal.Owner != w.Server.ID):
		one.Kind, one.Process, one.slots = busyKinds[w.Busy], ownerOf(w.Server), w.Slots
	case refusal != nil:
		one.Kind, one.Reason, one.Since = WaitsForFlow, visible.Line(refusal.Why), refusal.At.UTC()
		one.Process = &Owner{PID: refusal.PID, Host: refusal.Host, Alive: refusal.Alive}
	case w.Changed != nil:
		one.Kind, one.Process = WaitsForFlow, ownerOf(w.Changed)
		one.Reason = "the flow has changed since the run was begun: see engine.AcceptChange"
	case len(w.Needs) > 0:
		one.Kind, one.Needs = WaitsForOffer, w.Needs
	}
	return one
}

// busyKinds are the kinds of waits for a server, by [engine.Presence.Busy].
var busyKinds = map[string]WaitKind{
	"": WaitsForTake, "slots": WaitsForSlot, "memory": WaitsForMemory, "trial": WaitsForTrial,
}

// held returns the hindrance of a suspended run; nil if its atoms say what a person must decide.
func (w *Diagnosis) held() *Wait {
	run := &w.Run
	for i := range w.Atoms {
		if w.Atoms[i].State == states.TaskRevertFailure {
			return nil
		}
	}
	for i := range w.Messages {
		if w.Messages[i].Kind == storage.MessageResume && run.Hold { // the process that has its flow reads it
			return nil
		}
	}
	if run.NeedsPerson() {
		return &Wait{Kind: WaitsForPerson, Since: run.Updated.UTC(), Failure: FailureOf(run.Failure)}
	}
	return &Wait{Kind: WaitsForOperator, Since: run.Updated.UTC()}
}

// ownerOf returns the process in JSON.
func ownerOf(o *storage.Owner) *Owner {
	return &Owner{PID: o.PID, Host: o.Host, Alive: o.Alive, Started: o.Started.UTC()}
}

// String names the process, such as: process 4711 on box.
func (o *Owner) String() string { return fmt.Sprintf("process %d on %s", o.PID, visible.Line(o.Host)) }

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
	case WaitsForTrial:
		return fmt.Sprintf("%s. %s serves it, but takes up no other run now: it tries a run that may kill its process.", due,
			upper(one.Process.String()))
	case WaitsForTake:
		if !one.Since.IsZero() && now.Sub(one.Since) > patience {
			return fmt.Sprintf("%s. %s serves it, and has not taken it up yet: look into its log.", due,
				upper(one.Process.String()))
		}
		return fmt.Sprintf("%s. %s takes it up now.", due, upper(one.Process.String()))
	case WaitsForStopped:
		return fmt.Sprintf("%s was stopped: kill -CONT %d lets it continue. Or end it with kill -9 %d: then another process "+
			"can take the run over.", upper(one.Process.String()), one.Process.PID, one.Process.PID)
	case WaitsForPlace:
		if l := one.limited; l != nil {
			return fmt.Sprintf("It waits for a limit: %s; %d of them %s driven now. It goes on when one of them ends or waits.",
				visible.Line(one.Limit), l.Used, are(l.Used))
		}
		return fmt.Sprintf("It waits for a limit: %s.", visible.Line(one.Limit))
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
			text += fmt.Sprintf(" --rate %d/%v", min(2*l.Rate, storage.MaxRate), l.Per)
		}
		return text
	default:
		return ""
	}
}
