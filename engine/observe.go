package engine

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
)

// EventKind tells events apart.
type EventKind = driver.EventKind

// The kinds of events.
const (
	FlowChanged   = driver.FlowChanged   // the run's own state changed
	AtomChanged   = driver.AtomChanged   // an atom's state changed
	LanguageEvent = driver.LanguageEvent // the flow's language wrote a line of its history
	ProgressMade  = driver.ProgressMade  // an atom said how far it is
	RevertDelayed = driver.RevertDelayed // an attempt to undo an atom failed, and another is made when it is due
	OthersAwaited = driver.OthersAwaited // nothing is executed: the run waits for a token to be completed, or for a message
	PlaceAwaited  = driver.PlaceAwaited  // the run waits for its place, see [storage.Limiter]; Name says by which limit
	RunDetached   = driver.RunDetached   // an atom began a run that it does not wait for; drive it at once if you want to, see [Engine.Detached]
)

// An Event is passed to observers once the change that it reports is committed. Secrets,
// see [atom.Secret], are masked in its values.
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
	Details  atom.Value    // ProgressMade: what the atom says of it; nil when nothing
	Duration time.Duration // when an attempt has ended: how long it took; also that of a revert
	Time     time.Time
}
