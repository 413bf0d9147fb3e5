package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Sentences explains to people why a run is in its current state, and which commands let it continue, as `ebb why`
// prints it. Ages are counted from now, and times are in the time zone of now.
func (w *Diagnosis) Sentences(now time.Time) []string {
	return append(w.Facts(now), advice(w.Wakes(w.Waits(now)))...)
}

// Facts is Sentences without the commands of [Diagnosis.Wakes], for views that have buttons in their place.
func (w *Diagnosis) Facts(now time.Time) []string {
	list := append([]string{stands(w, now)}, endingSentences(w)...)
	waits := w.Waits(now)
	if text := w.Undo.String(); text != "" {
		list = append(list, "Its undo: "+visible.Line(text)+".")
	}
	if run := &w.Run; !run.State.Ended() && run.Updated.Sub(now) > clockOff {
		list = append(list, fmt.Sprintf("It has changed at %s, which has not come yet: a clock is "+
			"wrong, and times come early or late.", run.Updated.In(now.Location()).Format(whyTime)))
	}
	list = append(list, crashLoop(w, now)...)
	list = append(list, tells(w, now)...)
	for i := range waits {
		if text := sentenceOf(w, &waits[i], now); text != "" {
			list = append(list, text)
		}
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

// Standing says how the run stands, what keeps a process from driving it, and which commands let it go on, without what
// its atoms wait for.
func (w *Diagnosis) Standing(now time.Time) []string {
	list := []string{stands(w, now)}
	if text := w.Hindrance(now); text != "" {
		list = append(list, text)
	}
	wakes := slices.DeleteFunc(w.Wakes(w.Waits(now)), func(one Wake) bool {
		return one.By == "event" || one.By == "token"
	})
	return append(list, advice(wakes)...)
}

// clockOff is how far a time may be ahead before it means that a clock is wrong.
const clockOff = 2 * time.Second

// Hindrance says why no process drives the run although it could go on; "" if there is no such reason, or if a process
// takes it up.
func (w *Diagnosis) Hindrance(now time.Time) string {
	one := w.hindrance(now)
	if one == nil || one.Kind == WaitsForTake && now.Sub(one.Since) < patience {
		return ""
	}
	return sentenceOf(w, one, now)
}

// stands describes the run's state and names the process that drives the run.
func stands(w *Diagnosis, now time.Time) string {
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
		return fmt.Sprintf("%s. No process drives it: %v, which drove it, has died.", text, ownerOf(w.Owner))
	case run.State == states.FlowSuspended && len(w.Mends(w.Waits(now))) > 0:
		return text + ", because a revert failed and an operator must decide."
	case SetAside(run):
		return text + "."
	case run.State == states.FlowSuspended:
		return text + ", on purpose."
	case run.Hold:
		return text + ". An operator suspended it."
	case run.State == states.FlowSuspending:
		text += ". No process drives it: the process that was suspending it has died."
	case run.State == states.FlowPending:
		text += ", and was never run."
	case w.hindrance(now) != nil:
		return text + ". No process drives it."
	default:
		text += ", and waits."
	}
	if w.hindrance(now) == nil {
		text += w.continues(now)
	}
	return text
}

// continues says which process continues a run that waits.
func (w *Diagnosis) continues(now time.Time) string {
	run := &w.Run
	switch {
	case w.Server != nil && !run.Due.IsZero():
		return fmt.Sprintf(" %s wakes it%s.", upper(ownerOf(w.Server).String()), at(run.Due, now))
	case w.Server != nil:
		return fmt.Sprintf(" %s serves it.", upper(ownerOf(w.Server).String()))
	case w.Changed != nil:
		return fmt.Sprintf(" %s serves its flow %s, which has changed since the run was begun: see engine.AcceptChange.",
			upper(ownerOf(w.Changed).String()), visible.Line(run.Flow))
	default:
		one := Wait{Flow: run.Flow, definition: run.Definition != "" || backend.IsOwnFlow(run.Flow)}
		return " No process serves its flow " + visible.Line(run.Flow) + one.server()
	}
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
		case "command", "other":
			commands = append(commands, visible.Line(wake.Command))
		}
	}
	if len(commands) > 0 {
		list = append(list, "It continues with: "+strings.Join(commands, "\n"+strings.Repeat(" ", len("It continues "))+
			"or: "))
	}
	return list
}

// crashLoop describes what the deaths of processes mean for a run, or returns nothing.
func crashLoop(w *Diagnosis, now time.Time) []string {
	run := &w.Run
	s := &run.CrashLoop
	switch {
	case SetAside(run):
		return []string{fmt.Sprintf("It was set aside: %s (%s).", run.Failure.Message, run.Failure.Code)}
	case run.State.Ended() || !backend.MayKillProcesses(run, now):
		return nil
	case s.Isolation&storage.Isolated != 0:
		return []string{fmt.Sprintf("It is driven alone now, to find the cause, as %s.", DeathsText(run))}
	case s.Isolation&storage.Blamed != 0:
		return []string{fmt.Sprintf("It is driven alone next, to find the cause, as %s.", DeathsText(run))}
	default:
		return []string{fmt.Sprintf("It is driven with few others next, to find the cause, as %s.", DeathsText(run))}
	}
}

// DeathsText reports how many processes died while they drove the run, and which one died last.
func DeathsText(run *storage.Run) string {
	s := &run.CrashLoop
	return fmt.Sprintf("%d processes died that drove it, the last of them (%s) before %s",
		run.Lost, s.By, s.Died.UTC().Format(time.RFC3339))
}
