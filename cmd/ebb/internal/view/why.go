package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Why explains to people why a run is in its current state. The result depends only on the arguments.
func Why(w *inspect.Diagnosis, now time.Time) []string {
	list := append([]string{stands(w)}, ending(w)...)
	waits := w.Waits()
	if text := w.Undo.String(); text != "" {
		list = append(list, "Its undo: "+visible.Line(text)+".")
	}
	list = append(list, suspicion(w, now)...)
	list = append(list, tells(w, now)...)
	for i := range waits {
		list = append(list, sentenceOf(w, &waits[i], now))
	}
	if w.More > 0 {
		list = append(list, fmt.Sprintf("%d more atoms are in the middle of something; all of them: ebb show -o json %s",
			w.More, visible.Line(w.Run.ID)))
	}
	for i := range w.Sends {
		list = append(list, Unsent(&w.Sends[i], now))
	}
	return append(list, advice(w, waits)...)
}

// tells describes the state of the run's language, and which transition lacks what.
func tells(w *inspect.Diagnosis, now time.Time) []string {
	m := w.Machine
	if m == nil {
		return nil
	}
	in := fmt.Sprintf("It is %s in the state %s", m.Doing, quoted(m.State))
	if m.Action != "" {
		in += ", at " + visible.Line(m.Action)
	}
	list := []string{in + "."}
	for _, t := range m.Transitions {
		var has, lacks []string
		for _, g := range t.Groups {
			if g.Has != "" {
				has = append(has, visible.Line(g.Has))
			} else {
				lacks = append(lacks, visible.Line(strings.Join(g.Events, " or ")))
			}
		}
		text := fmt.Sprintf("To %s it lacks the event %s", quoted(t.To), strings.Join(lacks, ", and "))
		if len(has) > 0 {
			text += "; " + strings.Join(has, ", ") + " has come"
		}
		list = append(list, text+".")
	}
	if !m.Due.IsZero() {
		list = append(list, fmt.Sprintf("To %s it goes%s.", quoted(m.DueTo), at(m.Due, now)))
	}
	switch m.Inbox {
	case 0:
	case 1:
		list = append(list, "1 event is in its inbox that it has not consumed.")
	default:
		list = append(list, fmt.Sprintf("%d events are in its inbox that it has not consumed.", m.Inbox))
	}
	return list
}

func quoted(name string) string { return strconv.Quote(visible.Line(name)) }

// stands describes the run's state and names the process that drives the run.
func stands(w *inspect.Diagnosis) string {
	run := &w.Run
	text := fmt.Sprintf("Run %s is %s", visible.Line(run.ID), run.State)
	switch {
	case run.State.Ended() && run.NeedsPerson():
		return text + ", and needs a person: its undo failed."
	case run.State.Ended():
		return text + ", and has ended."
	case run.Outcome == storage.Cancelled:
		text += ", being cancelled"
	case run.Outcome == storage.TimedOut:
		text += ", its time being up"
	}
	if run.Failure != nil && run.Outcome != storage.Unfinished {
		text += " (" + Cause(run.Failure) + ")"
	}
	switch {
	case w.Alive():
		return fmt.Sprintf("%s, and process %d on %s drives it.", text, w.Owner.PID, visible.Line(w.Owner.Host))
	case w.Owner != nil:
		return fmt.Sprintf("%s. No process drives it: process %d on %s, which drove it, has died.", text, w.Owner.PID,
			visible.Line(w.Owner.Host))
	case run.State == states.FlowSuspended && len(w.Mends(w.Waits())) > 0:
		return text + ", because a revert failed and an operator must decide."
	case inspect.SetAside(run):
		return text + "."
	case run.State == states.FlowSuspended:
		return text + ", on purpose."
	case run.State == states.FlowPending:
		return text + " and was never run."
	case run.State == states.FlowSuspending:
		return text + ". No process drives it: the process that was suspending it has died."
	default:
		return text + ". No process drives it."
	}
}

// worker names the worker that has the work of a token, or the kind of worker that the work waits for.
func worker(one *inspect.Wait, now time.Time) string {
	kind := quoted(one.Work)
	switch {
	case one.Worker == "":
		return "a worker that asks for " + kind
	case !one.Lease.IsZero() && !one.Lease.After(now):
		return fmt.Sprintf("another worker that asks for %s, because no heartbeat arrived from %s", kind, quoted(one.Worker))
	case one.Worker == "?": // the worker has no name
		return "a worker, which does " + kind
	default:
		return fmt.Sprintf("the worker %s, which does %s", quoted(one.Worker), kind)
	}
}

// reported says what the worker of a token has reported with its heartbeats.
func reported(one *inspect.Wait) string {
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
func sentenceOf(w *inspect.Diagnosis, one *inspect.Wait, now time.Time) string {
	name := visible.Line(one.Path)
	switch one.Kind {
	case inspect.WaitsForExecution:
		return called(w, name, "executed", one, now)
	case inspect.WaitsForRevert:
		return called(w, name, "undone", one, now)
	case inspect.WaitsForSignal:
		return fmt.Sprintf("%s waits for the signal %s%s%s.", name, visible.Line(one.Name), since(one.Since, now),
			until(one.Due, now))
	case inspect.WaitsForToken:
		return fmt.Sprintf("%s waits for the holder of its token%s%s%s.", name, since(one.Since, now), until(one.Due, now),
			limits[one.Timeout]) + reported(one)
	case inspect.WaitsForRun:
		return fmt.Sprintf("%s waits for the run %s%s.", name, quoted(one.Child), since(one.Since, now))
	case inspect.WaitsForWorker:
		return fmt.Sprintf("%s waits for %s%s%s%s.", name, worker(one, now), since(one.Since, now), until(one.Due, now),
			limits[one.Timeout]) + reported(one)
	case inspect.WaitsForTime:
		return fmt.Sprintf("%s waits%s.", name, strings.TrimPrefix(until(one.Due, now), ","))
	case inspect.WaitsForRetry:
		return fmt.Sprintf("%s is retried%s, as attempt %d%s.", name, at(one.Due, now), one.Attempt, after(one))
	case inspect.WaitsForUndoAgain:
		return fmt.Sprintf("%s is undone again%s, as attempt %d%s.", name, at(one.Due, now), one.Attempt,
			after(one))
	case inspect.WaitsForMending:
		return fmt.Sprintf("%s could not be undone%s.", name, after(one))
	case inspect.WaitsForPlace:
		return fmt.Sprintf("It waits for a limit: %s.", visible.Line(one.Limit))
	case inspect.WaitsForDeadline:
		return fmt.Sprintf("Its time is up%s.", at(one.Due, now))
	default:
		return inInbox(one, now)
	}
}

// called describes an atom whose call is running or was interrupted.
func called(w *inspect.Diagnosis, name, how string, one *inspect.Wait, now time.Time) string {
	which := ""
	if one.Attempt > 1 {
		which = fmt.Sprintf(", attempt %d", one.Attempt)
	}
	if w.Alive() {
		return fmt.Sprintf("%s is being %s%s%s.", name, how, since(one.Since, now), which)
	}
	return fmt.Sprintf("%s was being %s%s%s; how that ended is unknown, so it is %s again under the same key.",
		name, how, since(one.Since, now), which, how)
}

func inInbox(one *inspect.Wait, now time.Time) string {
	what := visible.Line(string(one.Message))
	if one.Name != "" && one.Message != storage.MessageToken {
		what += " " + visible.Line(one.Name)
	}
	if one.Path != "" {
		what += " for " + visible.Line(one.Path)
	}
	return fmt.Sprintf("In its inbox is: %s%s.", what, since(one.Since, now))
}

// advice describes what would make the run continue.
func advice(w *inspect.Diagnosis, waits []inspect.Wait) []string {
	var list, commands []string
	for _, wake := range w.Wakes(waits) {
		switch wake.By {
		case "event":
			list = append(list, fmt.Sprintf("Send %s with: %s", visible.Line(wake.Event),
				visible.Line(wake.Command)))
		case "token":
			list = append(list, fmt.Sprintf("%s ends with: %s", visible.Line(wake.Path), visible.Line(wake.Command)))
		case "command":
			commands = append(commands, visible.Line(wake.Command))
		}
	}
	if len(commands) > 0 {
		list = append(list, "It continues with: "+strings.Join(commands, "\n"+strings.Repeat(" ", len("It continues "))+
			"or: "))
	}
	return list
}

func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" since %s (%s)", Clock(t, whyTime), Span(now.Sub(t)))
}

func until(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(", until %s (%s left)", Clock(t, whyTime), left(t, now))
}

func at(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" at %s (in %s)", Clock(t, whyTime), left(t, now))
}

func after(one *inspect.Wait) string {
	if one.Failure == nil {
		return ""
	}
	text := one.Failure.Code
	if one.Failure.Message != "" {
		text += ": " + one.Failure.Message
	}
	return ", after " + visible.Line(text)
}

const whyTime = time.DateTime

// suspicion describes what the deaths of processes mean for a run; nothing if they mean nothing.
func suspicion(w *inspect.Diagnosis, now time.Time) []string {
	run := &w.Run
	s := &run.Suspicion
	switch {
	case inspect.SetAside(run):
		return []string{fmt.Sprintf("It was set aside: %s (%s).", run.Failure.Message, run.Failure.Code)}
	case run.State.Ended() || !run.Suspect(now):
		return nil
	case s.Trial&storage.OnTrial != 0:
		return []string{fmt.Sprintf("It is on trial, as %s.", Deaths(run))}
	case s.Trial&storage.Accused != 0:
		return []string{fmt.Sprintf("It is tried alone when it is driven next, as %s.", Deaths(run))}
	default:
		return []string{fmt.Sprintf("It is tried when it is driven next, as %s.", Deaths(run))}
	}
}

// Deaths reports how many processes died while they drove the run, and which one died last.
func Deaths(run *storage.Run) string {
	s := &run.Suspicion
	return fmt.Sprintf("%d processes died that drove it, the last of them (%s) before %s",
		run.Lost, s.By, s.Died.UTC().Format(time.RFC3339))
}
