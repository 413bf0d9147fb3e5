package driver

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An EventKind is the kind of an event.
type EventKind uint8

// The kinds of events.
const (
	FlowChanged   EventKind = iota // the run's own state changed
	AtomChanged                    // an atom's state changed
	LanguageEvent                  // the flow's language recorded an event of its history
	ProgressMade                   // an atom reported its progress
	RevertDelayed                  // an attempt to undo an atom failed; the next attempt is at Due
	OthersAwaited                  // no atom executes: the run waits for a token to be completed, or for a message
	PlaceAwaited                   // the run waits for a limit, see [backend.Limiter]; Name describes the limit
	WorkStays                      // the undo passed an atom that nothing reverts: To is a text of storage.Status
	// RunDetached: an atom created a child run that it does not wait for; see Engine.Detached of package engine.
	RunDetached
)

// String returns the name of the kind, such as "FlowChanged".
func (k EventKind) String() string {
	names := [...]string{
		FlowChanged: "FlowChanged", AtomChanged: "AtomChanged", LanguageEvent: "LanguageEvent", ProgressMade: "ProgressMade",
		RevertDelayed: "RevertDelayed", OthersAwaited: "OthersAwaited", PlaceAwaited: "PlaceAwaited", WorkStays: "WorkStays",
		RunDetached: "RunDetached",
	}
	if int(k) >= len(names) {
		return fmt.Sprintf("EventKind(%d)", uint8(k))
	}
	return names[k]
}

// An Event is passed to observers. It has the fields of the Event of package engine, which converts it, so that the
// two cannot differ.
type Event struct {
	Run      string
	Flow     string // name of the run's flow
	Path     string // path of the atom; "" means the run itself
	Kind     EventKind
	From, To string        // states before and after, as texts
	Attempt  int           // attempt of the atom or, for RevertDelayed, of its revert
	Failure  *atom.Failure // when To is FAILURE, RETRYING or REVERT_FAILURE, of RevertDelayed, and why a run failed
	Due      time.Time     // if To is a wait: when it ends; for RevertDelayed: when the next attempt starts
	Timer    bool          // the node is a timer
	Inner    bool          // the node only provides structure: a fork, a child of a fork, or the root of a growing flow
	Reverts  bool          // the atom can be undone
	Result   atom.Value    // result, if To is SUCCESS
	Name     string        // LanguageEvent: type of the event; RunDetached: id of the child run
	Progress float64       // ProgressMade: from 0 to 1
	Details  atom.Value    // ProgressMade: the atom's details; nil if there are none
	Duration time.Duration // duration of the attempt or revert that ended, without Waited
	Waited   time.Duration // how long that attempt or revert waited for a free slot
	Time     time.Time
}

// notices collects the events for observers and the log.
type notices struct {
	watched bool        // there are observers, or every event is logged
	level   hclog.Level // the lowest level that is logged
	lines   *lines      // of a growing flow's run, or of a run above it; nil if there is none
	above   *lines      // of a run above it
	list    []Event     // passed on after the commit of the changes that they report
}

// note collects an event until the change that it reports is committed.
func (r *run) note(ev Event) {
	if !r.notices.watched && lineOf(&ev).level < r.notices.level {
		return
	}
	ev.Run, ev.Flow, ev.Time = r.Claim.Run, r.about.Flow, r.Draft.Now
	ev.Result, ev.Details = r.secrets.Mask(ev.Path, ev.Result), r.secrets.Mask(ev.Path, ev.Details)
	r.notices.list = append(r.notices.list, ev)
}

// because adds why the run came to rest to the event that says so.
func (n *notices) because(failure *atom.Failure) {
	for i := len(n.list) - 1; i >= 0; i-- {
		if n.list[i].Kind == FlowChanged {
			n.list[i].Failure = failure
			return
		}
	}
}

// announce passes the collected events on.
func (r *run) announce() {
	r.env.Tell(r.notices.list...)
	for i := range r.notices.list {
		logEvent(r.env.logOf(r.notices.lines), &r.notices.list[i])
	}
	clear(r.notices.list)
	r.notices.list = r.notices.list[:0]
}

// noteChange collects the event of an atom's new state.
func (r *run) noteChange(cmd *scheduler.Command, a *storage.Atom, entry *storage.Entry) {
	ev := Event{
		Kind: AtomChanged, Path: a.Path, From: cmd.From.String(), To: cmd.To.String(),
		Attempt: a.Attempt, Failure: entry.Failure, Result: entry.Body.Data, Due: a.Due, Waited: entry.Waited,
	}
	u := cmd.Unit
	ev.Timer = u.Node != nil && u.Node.Spec.Kind == grow.Timer
	ev.Inner, ev.Reverts = u.Inner(), u.Reverts() && (u.Planned == nil || !a.UndoPasses())
	switch cmd.To {
	case states.TaskSuccess, states.TaskFailure, states.TaskCancelled, states.TaskReverted:
		ev.Due = time.Time{} // its wait is over
	default:
	}
	if cmd.To == states.TaskRetrying {
		if cmd.From != states.TaskFailure { // else the event before this one has it
			ev.Failure = a.Failure
		}
	} else if !a.StartedAt.IsZero() && !a.EndedAt.IsZero() {
		ev.Duration = a.EndedAt.Sub(a.StartedAt)
	}
	r.note(ev)
}

// noteStays collects the event that the undo has passed an atom that nothing reverts.
func (r *run) noteStays(entry *storage.Entry) {
	r.note(Event{
		Kind: WorkStays, Path: entry.Path, From: states.Task(entry.From).String(), To: string(entry.Status()),
		Attempt: entry.Attempt,
	})
}

// noteDelay collects the event of a revert that failed and will be retried.
func (r *run) noteDelay(a *storage.Atom) {
	if a.State == states.TaskReverting && a.RevertFailure != nil && a.Due.After(r.Draft.Now) {
		state := a.State.String()
		r.note(Event{
			Kind: RevertDelayed, Path: a.Path, From: state, To: state, Attempt: a.RevertAttempt, Failure: a.RevertFailure,
			Due: a.Due,
		})
	}
}

// events appends to the language's own history.
func (r *run) events(cmd *scheduler.Command) {
	r.Draft.Events(cmd)
	for i := range cmd.Events {
		r.note(Event{Kind: LanguageEvent, Path: cmd.Events[i].Name, Name: cmd.Events[i].Type})
	}
}
