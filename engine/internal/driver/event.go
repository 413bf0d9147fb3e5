package driver

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An EventKind is the kind of an event.
type EventKind uint8

// The kinds of events.
const (
	FlowChanged   EventKind = iota // the run's own state changed
	AtomChanged                    // an atom's state changed
	LanguageEvent                  // the flow's language wrote a line of its history
	ProgressMade                   // an atom said how far it is
	RevertDelayed                  // an attempt to undo an atom failed; the next one is made at Due
	OthersAwaited                  // nothing is executed: the run waits for a token to be completed, or for a message
	PlaceAwaited                   // the run waits for its place, see [storage.Limiter]; Name says by which limit
	RunDetached                    // an atom began a run that it does not wait for; see Engine.Detached of package engine
)

// An Event is passed to observers. It is the Event of package engine.
type Event struct {
	Run      string
	Flow     string // of the run
	Path     string // of the atom; "" is the run itself
	Kind     EventKind
	From, To string        // the states' texts
	Attempt  int           // which attempt of the atom; RevertDelayed: of its undoing
	Failure  *atom.Failure // when To is FAILURE or REVERT_FAILURE, and of RevertDelayed
	Due      time.Time     // when To is a wait: when it ends; RevertDelayed: when it is tried again
	Timer    bool          // the node is a timer
	Inner    bool          // the node is there for structure: a fork, one of its children, or the root of a growing flow
	Reverts  bool          // the atom can be undone
	Result   atom.Value    // when To is SUCCESS
	Name     string        // LanguageEvent: its type; RunDetached: the id of the run
	Progress float64       // ProgressMade: from 0 to 1
	Details  atom.Value    // ProgressMade: the atom's details; nil when there are none
	Duration time.Duration // when an attempt has ended: how long it took; also that of a revert
	Time     time.Time
}

// notices are the events for observers and the log.
type notices struct {
	watched bool    // there are observers
	list    []Event // passed on once the changes they report are committed
}

// note keeps an event until the change that it reports is committed.
func (r *run) note(ev Event) {
	if !r.notices.watched {
		return
	}
	ev.Run, ev.Flow, ev.Time = r.claim.Run, r.about.Flow, r.next.Now
	ev.Result, ev.Details = r.secrets.Mask(ev.Path, ev.Result), r.secrets.Mask(ev.Path, ev.Details)
	r.notices.list = append(r.notices.list, ev)
}

// announce passes on the events that were noted.
func (r *run) announce() {
	debug := r.env.Log.IsDebug()
	for _, ev := range r.notices.list {
		for _, f := range r.env.Observers {
			f(ev)
		}
		if debug && ev.Kind == ProgressMade {
			r.env.Log.Debug(ev.Path, "run", ev.Run, "progress", ev.Progress)
		} else if debug && ev.Kind != LanguageEvent {
			args := []any{"run", ev.Run, "from", ev.From, "to", ev.To}
			if ev.Failure != nil {
				args = append(args, "code", ev.Failure.Code)
			}
			r.env.Log.Debug(ev.Path, args...)
		}
	}
	clear(r.notices.list)
	r.notices.list = r.notices.list[:0]
}

// noteChange notes an atom's new state.
func (r *run) noteChange(cmd *scheduler.Command, a *storage.Atom, entry *storage.Entry) {
	ev := Event{
		Kind: AtomChanged, Path: a.Path, From: cmd.From.String(), To: cmd.To.String(),
		Attempt: a.Attempt, Failure: entry.Failure, Result: entry.Body.Data, Due: a.Due,
	}
	switch {
	case cmd.Node != nil:
		ev.Timer, ev.Inner = cmd.Node.Spec.Kind == flow.Timer, cmd.Node.Spec.Kind == flow.Fork
		ev.Reverts = cmd.Node.Spec.Undo != nil
	case cmd.Scope != nil:
		ev.Inner = true
	default:
		ev.Inner, ev.Reverts = r.plan.Atoms[cmd.Atom].Language != nil, r.plan.Atoms[cmd.Atom].Reverts()
	}
	if cmd.To != states.TaskRetrying && !a.StartedAt.IsZero() && !a.EndedAt.IsZero() {
		ev.Duration = a.EndedAt.Sub(a.StartedAt)
	}
	r.note(ev)
}

// noteDelay notes a revert that failed and will be retried later.
func (r *run) noteDelay(a *storage.Atom) {
	if a.State == states.TaskReverting && a.RevertFailure != nil && a.Due.After(r.next.Now) {
		state := a.State.String()
		r.note(Event{
			Kind: RevertDelayed, Path: a.Path, From: state, To: state, Attempt: a.RevertAttempt, Failure: a.RevertFailure, Due: a.Due,
		})
	}
}

// events appends to the language's own history.
func (r *run) events(cmd *scheduler.Command) {
	r.next.Events(cmd)
	for i := range cmd.Events {
		r.note(Event{Kind: LanguageEvent, Path: cmd.Events[i].Name, Name: cmd.Events[i].Type})
	}
}
