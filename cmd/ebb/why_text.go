package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// sentences tells a standing to people. It depends on nothing but the time.
func (w *diagnosis) sentences(now time.Time) []string {
	list := []string{w.stands()}
	waits := w.waits()
	list = append(list, w.suspicion(now)...)
	list = append(list, w.tells(now)...)
	for i := range waits {
		list = append(list, w.sentence(&waits[i], now))
	}
	if w.more > 0 {
		list = append(list, fmt.Sprintf("%d more atoms are in the middle of something; all of them: ebb show -o json %s", w.more, visible.Line(w.run.ID)))
	}
	for i := range w.sends {
		list = append(list, w.sends[i].sentence(now))
	}
	return append(list, w.advice(waits)...)
}

// tells says what the run's language does, and which transition lacks what.
func (w *diagnosis) tells(now time.Time) []string {
	m := w.machine
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

// stands says how the run stands and who moves it.
func (w *diagnosis) stands() string {
	run := &w.run
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
		text += " (" + cause(run.Failure) + ")"
	}
	switch {
	case w.alive():
		return fmt.Sprintf("%s, and process %d on %s moves it.", text, w.owner.PID, visible.Line(w.owner.Host))
	case w.owner != nil:
		return fmt.Sprintf("%s. Nobody moves it: process %d on %s, which did, has died.", text, w.owner.PID, visible.Line(w.owner.Host))
	case run.State == states.FlowSuspended && len(w.mends(w.waits())) > 0:
		return text + ", because something could not be undone and somebody is to decide."
	case setAside(run):
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

// worker says who does the work of a token, or is to.
func worker(t *storage.Token, now time.Time) string {
	kind := quoted(t.Queue)
	switch {
	case t.Worker == "":
		return "a worker that asks for " + kind
	case !t.Lease.IsZero() && !t.Lease.After(now):
		return fmt.Sprintf("another worker that asks for %s, as nothing was heard of %s", kind, quoted(t.Worker))
	case t.Worker == "?": // it gave no name
		return "a worker, which does " + kind
	default:
		return fmt.Sprintf("the worker %s, which does %s", quoted(t.Worker), kind)
	}
}

// limits say of a token until when it is what.
var limits = [...]string{
	storage.NoLimit: "", storage.ScheduleToClose: "",
	storage.ScheduleToStart: ", by when one has to have taken it",
	storage.StartToClose:    ", which is how long it may take",
	storage.HeartbeatLimit:  ", unless it is heard of before",
}

// sentence says what one wait is.
func (w *diagnosis) sentence(one *wait, now time.Time) string {
	name := visible.Line(one.path)
	switch one.kind {
	case waitsForExecution:
		return w.called(name, "executed", one, now)
	case waitsForRevert:
		return w.called(name, "undone", one, now)
	case waitsForToken:
		return fmt.Sprintf("%s waits for whoever has its token%s%s%s.", name, since(one.since, now), until(one.due, now), limits[one.timeout])
	case waitsForWorker:
		return fmt.Sprintf("%s waits for %s%s%s%s.", name, worker(one.token, now), since(one.since, now), until(one.due, now), limits[one.timeout])
	case waitsForTime:
		return fmt.Sprintf("%s waits%s.", name, strings.TrimPrefix(until(one.due, now), ","))
	case waitsForRetry:
		return fmt.Sprintf("%s is tried again%s, which is attempt %d%s.", name, at(one.due, now), one.attempt, after(one))
	case waitsForUndoAgain:
		return fmt.Sprintf("%s is to be undone again%s, which is attempt %d%s.", name, at(one.due, now), one.attempt, after(one))
	case waitsForMending:
		return fmt.Sprintf("%s could not be undone%s.", name, after(one))
	case waitsForPlace:
		return fmt.Sprintf("It waits for its place: %s.", visible.Line(one.limit.Reason()))
	case waitsForDeadline:
		return fmt.Sprintf("Its time is up%s.", at(one.due, now))
	default:
		return w.message(one, now)
	}
}

// called says that an atom is, or was, in the middle of a call.
func (w *diagnosis) called(name, how string, one *wait, now time.Time) string {
	which := ""
	if one.attempt > 1 {
		which = fmt.Sprintf(", attempt %d", one.attempt)
	}
	if w.alive() {
		return fmt.Sprintf("%s is being %s%s%s.", name, how, since(one.since, now), which)
	}
	return fmt.Sprintf("%s was being %s%s%s; how that ended is not known, so it is %s again under the same key.",
		name, how, since(one.since, now), which, how)
}

func (w *diagnosis) message(one *wait, now time.Time) string {
	l := one.message
	what := visible.Line(l.Kind)
	if l.Name != "" && l.Kind != storage.MessageToken {
		what += " " + visible.Line(l.Name)
	}
	if l.Path != "" {
		what += " for " + visible.Line(l.Path)
	}
	return fmt.Sprintf("In its inbox is: %s%s.", what, since(one.since, now))
}

// advice says what would move the run on.
func (w *diagnosis) advice(waits []wait) []string {
	var list, commands []string
	for _, wake := range w.wakes(waits) {
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
	return fmt.Sprintf(" since %s (%s)", clock(t, whyTime), span(now.Sub(t)))
}

func until(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(", until %s (%s left)", clock(t, whyTime), left(t, now))
}

func at(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" at %s (in %s)", clock(t, whyTime), left(t, now))
}

func after(one *wait) string {
	if one.failure == nil {
		return ""
	}
	text := one.failure.Code
	if one.failure.Message != "" {
		text += ": " + one.failure.Message
	}
	return ", after " + visible.Line(text)
}

const whyTime = time.DateTime
