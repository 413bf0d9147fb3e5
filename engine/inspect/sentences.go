package inspect

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Sentences explains to people why a run is in its current state, and which commands let it continue, as `ebb why`
// prints it. Ages are counted from now, and times are in the time zone of now.
func (w *Diagnosis) Sentences(now time.Time) []string {
	return append(w.Facts(now), advice(w.Wakes(w.Waits()))...)
}

// Facts is Sentences without the commands of [Diagnosis.Wakes], for views that have buttons in their place.
func (w *Diagnosis) Facts(now time.Time) []string {
	list := append([]string{stands(w)}, endingSentences(w)...)
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
			w.More, visible.Word(w.Run.ID)))
	}
	if more := w.Unread - int64(len(w.Messages)); more > 0 {
		list = append(list, fmt.Sprintf("%d more messages are in its inbox.", more))
	}
	for i := range w.Sends {
		list = append(list, w.Sends[i].Sentence(now))
	}
	return list
}

// tells describes the state of the run's language, and what each transition lacks.
func tells(w *Diagnosis, now time.Time) []string {
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
func stands(w *Diagnosis) string {
	run := &w.Run
	text := fmt.Sprintf("Run %s is %s", visible.Line(run.ID), run.State)
	switch {
	case run.State.Ended() && run.NeedsPerson():
		return text + ", and needs a person: its undo failed."
	case run.State.Ended():
		return text + ", and has ended."
	case run.AsksPerson():
		text += ", and needs a person"
	case run.Outcome == storage.Cancelled:
		text += ", being cancelled"
	case run.Outcome == storage.TimedOut:
		text += ", its time being up"
	}
	if run.Failure != nil && (run.Outcome != storage.Unfinished || run.AsksPerson()) {
		text += " (" + Cause(run.Failure) + ")"
	}
	switch {
	case w.Alive():
		return fmt.Sprintf("%s, and process %d on %s drives it.", text, w.Owner.PID, visible.Line(w.Owner.Host))
	case w.Owner != nil:
		return fmt.Sprintf("%s. No process drives it: process %d on %s, which drove it, has died.%s", text, w.Owner.PID,
			visible.Line(w.Owner.Host), served(w.Server))
	case run.State == states.FlowSuspended && len(w.Mends(w.Waits())) > 0:
		return text + ", because a revert failed and an operator must decide."
	case SetAside(run):
		return text + "."
	case run.State == states.FlowSuspended:
		return text + ", on purpose."
	case run.State == states.FlowPending:
		return text + " and was never run." + served(w.Server)
	case run.State == states.FlowSuspending:
		return text + ". No process drives it: the process that was suspending it has died." + served(w.Server)
	default:
		return text + ". No process drives it." + served(w.Server)
	}
}

// served says which process takes up a run.
func served(server *storage.Owner) string {
	if server == nil {
		return ""
	}
	return fmt.Sprintf(" Process %d on %s serves it, and takes it up when it is due.", server.PID,
		visible.Line(server.Host))
}

// advice describes what would make the run continue.
func advice(wakes []Wake) []string {
	var list, commands []string
	for _, wake := range wakes {
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

// suspicion describes what the deaths of processes mean for a run, or returns nothing.
func suspicion(w *Diagnosis, now time.Time) []string {
	run := &w.Run
	s := &run.Suspicion
	switch {
	case SetAside(run):
		return []string{fmt.Sprintf("It was set aside: %s (%s).", run.Failure.Message, run.Failure.Code)}
	case run.State.Ended() || !run.Suspect(now):
		return nil
	case s.Trial&storage.OnTrial != 0:
		return []string{fmt.Sprintf("It is on trial, as %s.", DeathsText(run))}
	case s.Trial&storage.Accused != 0:
		return []string{fmt.Sprintf("It is tried alone when it is driven next, as %s.", DeathsText(run))}
	default:
		return []string{fmt.Sprintf("It is tried when it is driven next, as %s.", DeathsText(run))}
	}
}

// DeathsText reports how many processes died while they drove the run, and which one died last.
func DeathsText(run *storage.Run) string {
	s := &run.Suspicion
	return fmt.Sprintf("%d processes died that drove it, the last of them (%s) before %s",
		run.Lost, s.By, s.Died.UTC().Format(time.RFC3339))
}
