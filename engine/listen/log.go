package listen

import (
	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/states"
)

// Levels says how important what happens is. A level that is not set has its
// default; hclog.Off leaves such lines out.
type Levels struct {
	Run      hclog.Level // the run itself began, rests, or ended well. Default Info
	Step     hclog.Level // an atom began, waits, or ended well. Default Debug
	Undo     hclog.Level // an atom is, or was, undone. Default Info
	Failure  hclog.Level // an atom or the run failed, or could not be undone. Default Warn
	Progress hclog.Level // an atom said how far it is. Default Trace
}

// Log returns an observer that writes a line for each event: the path of the
// atom, or "run", and how its state changed, how long it took, and why it
// failed. Results of atoms are not logged.
func Log(l hclog.Logger, levels Levels) func(engine.Event) {
	defaults(&levels)
	return func(ev engine.Event) {
		level := levels.of(&ev)
		if level == hclog.Off || level < l.GetLevel() {
			return
		}
		l.Log(level, name(&ev), fields(&ev)...)
	}
}

func defaults(l *Levels) {
	for _, set := range []struct {
		level *hclog.Level
		to    hclog.Level
	}{{&l.Run, hclog.Info}, {&l.Step, hclog.Debug}, {&l.Undo, hclog.Info}, {&l.Failure, hclog.Warn}, {&l.Progress, hclog.Trace}} {
		if *set.level == hclog.NoLevel {
			*set.level = set.to
		}
	}
}

// of returns the level of an event; Off for those of a language's own history,
// which is for its own readers.
func (l *Levels) of(ev *engine.Event) hclog.Level {
	switch ev.Kind {
	case engine.LanguageEvent, engine.RunDetached: // the run tells of itself
		return hclog.Off
	case engine.ProgressMade:
		return l.Progress
	case engine.RevertDelayed:
		return l.Failure
	case engine.FlowChanged:
		if ev.To == states.FlowFailure.String() || ev.To == states.FlowReverted.String() {
			return l.Failure
		}
		return l.Run
	case engine.OthersAwaited, engine.PlaceAwaited:
		return l.Run
	case engine.AtomChanged:
	}
	switch ev.To {
	case states.TaskFailure.String(), states.TaskRevertFailure.String():
		return l.Failure
	case states.TaskReverting.String(), states.TaskReverted.String():
		return l.Undo
	}
	return l.Step
}

func name(ev *engine.Event) string {
	if ev.Path == "" {
		return "run"
	}
	return ev.Path
}

func fields(ev *engine.Event) []any {
	out := []any{"run", ev.Run}
	if ev.Kind == engine.ProgressMade {
		out = append(out, "progress", ev.Progress)
		if ev.Details != nil {
			out = append(out, "details", ev.Details.String())
		}
		return out
	}
	out = append(out, "from", ev.From, "to", ev.To)
	if ev.Attempt > 1 {
		out = append(out, "attempt", ev.Attempt)
	}
	if ev.Duration > 0 {
		out = append(out, "took", ev.Duration)
	}
	if !ev.Due.IsZero() {
		out = append(out, "until", ev.Due)
	}
	if ev.Failure != nil {
		out = append(out, "code", ev.Failure.Code, "message", ev.Failure.Message)
	}
	return out
}
