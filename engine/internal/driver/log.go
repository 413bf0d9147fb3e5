package driver

import (
	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/states"
)

// A logLine is how the log names a change of an atom, and at which level.
type logLine struct {
	event string
	level hclog.Level
}

// changeLines are the log lines of changes of atoms, by the new state.
var changeLines = map[states.Task]logLine{
	states.TaskRunning:       {logevent.AtomStarted, hclog.Debug},
	states.TaskSuccess:       {logevent.AtomSucceeded, hclog.Debug},
	states.TaskFailure:       {logevent.AtomFailed, hclog.Warn},
	states.TaskRetrying:      {logevent.AtomRetrying, hclog.Warn},
	states.TaskReverting:     {logevent.AtomReverting, hclog.Info},
	states.TaskReverted:      {logevent.AtomReverted, hclog.Info},
	states.TaskRevertFailure: {logevent.AtomRevertFailed, hclog.Error},
}

// changeLine returns the log line of a change of an atom to a state.
func changeLine(to states.Task) logLine {
	if l, ok := changeLines[to]; ok {
		return l
	}
	return logLine{logevent.AtomChanged, hclog.Debug}
}

// lineOf returns the log line of an event. What is there for structure is logged for debugging only: the atoms in it
// have their own lines. The engine logs how runs start and end.
func lineOf(ev *Event) logLine {
	switch ev.Kind {
	case ProgressMade:
		return logLine{logevent.AtomProgress, hclog.Debug}
	case OthersAwaited:
		return logLine{logevent.RunWaiting, hclog.Debug}
	case RevertDelayed:
		return logLine{logevent.AtomRevertRetrying, hclog.Warn}
	case WorkStays:
		return logLine{logevent.AtomStaysDone, hclog.Info}
	case AtomChanged:
		var to states.Task
		if err := to.UnmarshalText([]byte(ev.To)); err != nil {
			return logLine{}
		}
		l := changeLine(to)
		if !ev.Reverts && (to == states.TaskReverting || to == states.TaskReverted) { // in name only
			l = logLine{logevent.AtomChanged, hclog.Debug}
		}
		if ev.Inner {
			l.level = hclog.Debug
		}
		return l
	case FlowChanged, LanguageEvent, PlaceAwaited, RunDetached:
	}
	return logLine{}
}

// lowestLevel returns the lowest level that a logger logs.
func lowestLevel(l hclog.Logger) hclog.Level {
	switch {
	case l.IsDebug():
		return hclog.Debug
	case l.IsInfo():
		return hclog.Info
	case l.IsWarn():
		return hclog.Warn
	default:
		return hclog.Error
	}
}

// logEvent writes the line of an event, if it has one.
func logEvent(log hclog.Logger, ev *Event) {
	l := lineOf(ev)
	if l.event == "" {
		return
	}
	var code, message, state string
	if ev.Failure != nil {
		code, message = ev.Failure.Code, ev.Failure.Message
	}
	if l.event == logevent.AtomChanged || l.event == logevent.AtomStaysDone {
		state = ev.To
	}
	log.Log(l.level, l.event, logevent.Attributes("run", ev.Run, "flow", ev.Flow, "path", ev.Path, "state", state,
		"attempt", ev.Attempt, "duration", ev.Duration, "due", ev.Due, "progress", ev.Progress,
		"code", code, "message", message)...)
}
