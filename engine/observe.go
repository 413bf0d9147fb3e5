package engine

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// EventKind tells events apart.
type EventKind uint8

// The kinds of events.
const (
	FlowChanged   EventKind = iota // the run's own state changed
	AtomChanged                    // an atom's state changed
	LanguageEvent                  // the flow's language wrote a line of its history
)

// An Event is what an observer is told. What it tells of is committed.
type Event struct {
	Run      string
	Path     string // of the atom; "" is the run itself
	Kind     EventKind
	From, To string        // the states' texts
	Attempt  int           // which attempt of the atom
	Failure  *atom.Failure // when To is FAILURE or REVERT_FAILURE
	Due      time.Time     // when To is a wait: when it ends
	Timer    bool          // the node is a timer
	Inner    bool          // the node is there for structure: a fork, one of its children, or the root of a growing flow
	Reverts  bool          // the atom can be undone
	Result   atom.Value    // when To is SUCCESS
	Name     string        // LanguageEvent: its type
	Time     time.Time
}

// note keeps an event until what it tells of is committed.
func (d *driver) note(ev Event) {
	if !d.watched {
		return
	}
	ev.Run, ev.Time = d.claim.Run, d.now
	d.notes = append(d.notes, ev)
}

// tell passes on what was noted.
func (d *driver) tell() {
	debug := d.e.log.IsDebug()
	for _, ev := range d.notes {
		for _, f := range d.e.observers {
			f(ev)
		}
		if debug && ev.Kind != LanguageEvent {
			args := []any{"run", ev.Run, "from", ev.From, "to", ev.To}
			if ev.Failure != nil {
				args = append(args, "code", ev.Failure.Code)
			}
			d.e.log.Debug(ev.Path, args...)
		}
	}
	clear(d.notes)
	d.notes = d.notes[:0]
}
