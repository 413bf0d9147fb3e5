package engine

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
)

// EventKind is the kind of an [Event], such as [FlowChanged].
type EventKind = driver.EventKind

// The kinds of events, see [Event.Kind].
const (
	FlowChanged   = driver.FlowChanged   // the run's own state changed
	AtomChanged   = driver.AtomChanged   // an atom's state changed
	LanguageEvent = driver.LanguageEvent // the flow's language recorded an event of its history
	ProgressMade  = driver.ProgressMade  // an atom reported its progress
	RevertDelayed = driver.RevertDelayed // an attempt to undo an atom failed; the next attempt is at Due
	// OthersAwaited: no atom is executed; the run waits for a token to be completed, or for a message.
	OthersAwaited = driver.OthersAwaited
	PlaceAwaited  = driver.PlaceAwaited // the run waits for a limit, see [SetLimit]; Name describes the limit
	WorkStays     = driver.WorkStays    // the undo passed an atom that nothing reverts: To is a text of [storage.Status]
	// RunDetached: an atom began a run that it does not wait for. To drive it at once, see [Engine.Detached].
	RunDetached = driver.RunDetached
)

// An Event is passed to observers after the change that it reports was committed. Secrets in its values are masked,
// see [atom.Secret].
type Event struct {
	Run      string    // id of the run
	Flow     string    // name of the run's flow
	Path     string    // path of the atom; "" means the run itself
	Kind     EventKind // what happened
	From, To string    // states before and after, as texts
	Attempt  int       // attempt of the atom, or of its revert, counted from 1
	// Why the attempt failed, if To is FAILURE, RETRYING or REVERT_FAILURE, and for RevertDelayed; why a run has failed.
	Failure *atom.Failure
	Due     time.Time  // if To is a wait: when it ends; for RevertDelayed: when the next attempt starts
	Timer   bool       // the node is a timer
	Inner   bool       // the node only provides structure: a fork, a child of a fork, or the root of a growing flow
	Reverts bool       // the atom can be undone
	Result  atom.Value // result of the atom, if To is SUCCESS
	// LanguageEvent: type of the event; RunDetached: id of the child run; PlaceAwaited: the limit.
	Name     string
	Progress float64       // ProgressMade: from 0 to 1
	Details  atom.Value    // ProgressMade: details that the atom reported; nil if there are none
	Duration time.Duration // duration of the attempt or revert that ended, without Waited
	Waited   time.Duration // how long that attempt or revert waited for a free slot; see WithParallelism
	Time     time.Time     // when the change happened
}

// String returns the run or the atom, what happened to it, and why. It has no values.
func (ev Event) String() string {
	text := fmt.Sprintf("run %q", ev.Run)
	if ev.Path != "" {
		text += fmt.Sprintf(": atom %q", ev.Path)
	}
	switch ev.Kind {
	case FlowChanged, AtomChanged, WorkStays:
		text += fmt.Sprintf(": %s → %s", ev.From, ev.To)
	case LanguageEvent:
		text += ": event " + ev.Name
	case ProgressMade:
		text += fmt.Sprintf(": progress %.0f %%", ev.Progress*100) //nolint:mnd // percent
	case RevertDelayed:
		text += fmt.Sprintf(": revert attempt %d failed", ev.Attempt)
	case OthersAwaited:
		text += ": only waits"
	case PlaceAwaited:
		text += ": waits for " + ev.Name
	case RunDetached:
		text += fmt.Sprintf(": began run %q", ev.Name)
	}
	if ev.Failure != nil {
		text += ": " + ev.Failure.Error()
	}
	return text
}
