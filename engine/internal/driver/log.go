package driver

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

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

// maxLines bounds the lines of one event and level of [lines].
//
//limit:scheduling log lines of one event and level of the run of a growing flow, such as an Each, and of its
//limit:and child runs | {} | logged at debug, and counted by `lines.left_out`
const maxLines = 10

// lines is the log of a run that grows, and of the runs below it that the same process drives. Because the same code
// may run for each of very many items, it logs only the first lines of each event and level, and counts the others.
type lines struct {
	hclog.Logger

	mu      sync.Mutex
	written map[logLine]int
}

// Log implements [hclog.Logger].
func (l *lines) Log(level hclog.Level, event string, attributes ...any) {
	if level > hclog.Debug && l.full(logLine{event, level}) {
		level = hclog.Debug
	}
	l.Logger.Log(level, event, attributes...)
}

// full counts a line, and reports whether it is left out.
func (l *lines) full(line logLine) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written[line]++
	return l.written[line] > maxLines
}

// Debug, Info, Warn and Error implement [hclog.Logger].
func (l *lines) Debug(event string, attributes ...any) { l.Log(hclog.Debug, event, attributes...) }
func (l *lines) Info(event string, attributes ...any)  { l.Log(hclog.Info, event, attributes...) }
func (l *lines) Warn(event string, attributes ...any)  { l.Log(hclog.Warn, event, attributes...) }
func (l *lines) Error(event string, attributes ...any) { l.Log(hclog.Error, event, attributes...) }

// logOf returns the log of a run whose lines are bounded, or that of a run without a bound.
func (e *Env) logOf(l *lines) hclog.Logger {
	if l == nil {
		return e.Log
	}
	return l
}

// Log returns the log of the run's start and end.
func (d *Driver) Log() hclog.Logger { return d.env.logOf(d.notices.above) }

// maxBounded bounds the runs that wait, and whose lines are kept for the runs below them.
const maxBounded = 1000

// boundLog bounds the log of a growing flow's run, and of the runs below it that this process drives until the run
// rests. The caller calls end with the error of the drive when nothing drives the run any more.
func (d *Driver) boundLog() (end func(error)) {
	n, id := &d.notices, d.Claim.Run
	if n.lines = n.above; n.lines == nil {
		if !d.Grows() {
			return func(error) {}
		}
		n.lines = &lines{Logger: d.env.Log, written: map[logLine]int{}}
	}
	kept, known := d.env.logs.LoadOrStore(id, n.lines)
	if n.lines, _ = kept.(*lines); !known {
		d.env.bounded.Add(1)
	}
	return func(err error) {
		later := err != nil && !errors.Is(err, ErrStopped) // the run waits, or another goroutine has it
		if later && d.env.bounded.Load() <= maxBounded || !d.env.logs.CompareAndDelete(id, n.lines) {
			return
		}
		d.env.bounded.Add(-1)
		if n.above == nil {
			n.lines.tell(&d.run)
		}
	}
}

// tell logs how many lines were left out. What other goroutines then still log of runs that have ended stays bounded,
// and is not counted.
func (l *lines) tell(r *run) {
	l.mu.Lock()
	written := maps.Clone(l.written)
	l.mu.Unlock()
	for _, line := range slices.SortedFunc(maps.Keys(written), func(a, b logLine) int {
		return cmp.Or(cmp.Compare(a.event, b.event), cmp.Compare(a.level, b.level))
	}) {
		if n := written[line] - maxLines; n > 0 {
			l.Logger.Log(line.level, logevent.LinesLeftOut, "run", r.Claim.Run, "flow", r.about.Flow,
				"event", line.event, "count", n)
		}
	}
}
