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

// Why tells people why a run is in its present state. It depends on nothing but the time.
func Why(w *inspect.Diagnosis, now time.Time) []string {
	list := []string{stands(w)}
	waits := w.Waits()
	list = append(list, suspicion(w, now)...)
	list = append(list, tells(w, now)...)
	for i := range waits {
		list = append(list, sentenceOf(w, &waits[i], now))
	}
	if w.More > 0 {
		list = append(list, fmt.Sprintf("%d more atoms are in the middle of something; all of them: ebb show -o json %s", w.More, visible.Line(w.Run.ID)))
	}
	for i := range w.Sends {
		list = append(list, Unsent(&w.Sends[i], now))
	}
	return append(list, advice(w, waits)...)
}

// tells says what the run's language does, and which transition lacks what.
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
		return fmt.Sprintf("%s, and process %d on %s moves it.", text, w.Owner.PID, visible.Line(w.Owner.Host))
	case w.Owner != nil:
		return fmt.Sprintf("%s. Nobody moves it: process %d on %s, which did, has died.", text, w.Owner.PID, visible.Line(w.Owner.Host))
	case run.State == states.FlowSuspended && len(w.Mends(w.Waits())) > 0:
		return text + ", because something could not be undone and somebody is to decide."
	case inspect.SetAside(run):
		return text + "."
	case run.State == states.FlowSuspended:
		return text + ", on purpose."
	case run.State == states.FlowPending:
		return text + " and was never run."
	case run.State == states.FlowSuspending:
		return text + ". Nobody moves it: who was to let it come to rest has died."
	default:
		return text + ". Nobody moves it."
	}
}

// worker names the worker that has the work of a token, or the kind of worker that the work waits for.
func worker(one *inspect.Wait, now time.Time) string {
	kind := quoted(one.Work)
	switch {
	case one.Worker == "":
		return "a worker that asks for " + kind
	case !one.Lease.IsZero() && !one.Lease.After(now):
		return fmt.Sprintf("another worker that asks for %s, as nothing was heard of %s", kind, quoted(one.Worker))
	case one.Worker == "?": // it gave no name
		return "a worker, which does " + kind
	default:
		return fmt.Sprintf("the worker %s, which does %s", quoted(one.Worker), kind)
	}
}

// limits say of a token until when it is what.
var limits = map[string]string{
	storage.ScheduleToStart.String(): ", by when one has to have taken it",
	storage.StartToClose.String():    ", which is how long it may take",
	storage.HeartbeatLimit.String():  ", unless it is heard of before",
}

// sentenceOf says what one wait is.
func sentenceOf(w *inspect.Diagnosis, one *inspect.Wait, now time.Time) string {
	name := visible.Line(one.Path)
	switch one.Kind {
	case inspect.WaitsForExecution:
		return called(w, name, "executed", one, now)
	case inspect.WaitsForRevert:
		return called(w, name, "undone", one, now)
	case inspect.WaitsForToken:
		return fmt.Sprintf("%s waits for whoever has its token%s%s%s.", name, since(one.Since, now), until(one.Due, now), limits[one.Timeout])
	case inspect.WaitsForWorker:
		return fmt.Sprintf("%s waits for %s%s%s%s.", name, worker(one, now), since(one.Since, now), until(one.Due, now), limits[one.Timeout])
	case inspect.WaitsForTime:
		return fmt.Sprintf("%s waits%s.", name, strings.TrimPrefix(until(one.Due, now), ","))
	case inspect.WaitsForRetry:
		return fmt.Sprintf("%s is tried again%s, which is attempt %d%s.", name, at(one.Due, now), one.Attempt, after(one))
	case inspect.WaitsForUndoAgain:
		return fmt.Sprintf("%s is to be undone again%s, which is attempt %d%s.", name, at(one.Due, now), one.Attempt, after(one))
	case inspect.WaitsForMending:
		return fmt.Sprintf("%s could not be undone%s.", name, after(one))
	case inspect.WaitsForPlace:
		return fmt.Sprintf("It waits for its place: %s.", visible.Line(one.Limit))
	case inspect.WaitsForDeadline:
		return fmt.Sprintf("Its time is up%s.", at(one.Due, now))
	default:
		return inInbox(one, now)
	}
}

// called says that an atom is, or was, in the middle of a call.
func called(w *inspect.Diagnosis, name, how string, one *inspect.Wait, now time.Time) string {
	which := ""
	if one.Attempt > 1 {
		which = fmt.Sprintf(", attempt %d", one.Attempt)
	}
	if w.Alive() {
		return fmt.Sprintf("%s is being %s%s%s.", name, how, since(one.Since, now), which)
	}
	return fmt.Sprintf("%s was being %s%s%s; how that ended is not known, so it is %s again under the same key.",
		name, how, since(one.Since, now), which, how)
}

func inInbox(one *inspect.Wait, now time.Time) string {
	what := visible.Line(one.Message)
	if one.Name != "" && one.Message != storage.MessageToken {
		what += " " + visible.Line(one.Name)
	}
	if one.Path != "" {
		what += " for " + visible.Line(one.Path)
	}
	return fmt.Sprintf("In its inbox is: %s%s.", what, since(one.Since, now))
}

// advice says what would move the run on.
func advice(w *inspect.Diagnosis, waits []inspect.Wait) []string {
	var list, commands []string
	for _, wake := range w.Wakes(waits) {
		switch wake.By {
		case "event":
			list = append(list, fmt.Sprintf("The event %s can be sent with: %s", visible.Line(wake.Event), visible.Line(wake.Command)))
		case "token":
			list = append(list, fmt.Sprintf("%s ends with: %s", visible.Line(wake.Path), visible.Line(wake.Command)))
		case "command":
			commands = append(commands, visible.Line(wake.Command))
		}
	}
	if len(commands) > 0 {
		list = append(list, "It goes on with: "+strings.Join(commands, "\n"+strings.Repeat(" ", len("It goes on "))+"or: "))
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

// suspicion says what the deaths of processes mean for a run; nothing when they mean nothing.
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
