package grow

import "github.com/ebbflow/ebb/atom"

// A Tracer follows a run through the states of its language. It is given all events of the run's history, in order.
type Tracer interface {
	// Trace takes the next event: its number, the path of the flow that it is an event of, and the event. It returns
	// what happened to visits of states, in order. The slice is valid until the next call.
	Trace(number int64, flow string, e *Event) []Visit
}

// A Visit is something that happened while a run was in a state of its language.
type Visit struct {
	Stage   VisitStage    // what happened
	Path    string        // place in the run, such as "Ship[3]/Pack"; a node of the visit may have another number
	Level   string        // path of the branch or iteration that the state is in; "" is the run's own flow
	State   string        // name of the state; "" for a branch or an iteration itself
	Kind    string        // type of the state in the language, such as "Choice"
	Number  int           // number of the visit of the state in its level, from 1
	Entered int64         // number of the event that began the visit
	Nodes   bool          // nodes of the run may show the visit
	From    string        // Entered: name of the state that the level was in before; "" if it begins
	After   string        // Entered: path of that visit
	Caught  bool          // Left: a catcher chose the next state; Entered: of the state before
	Failure *atom.Failure // Failed: the error, as far as the history has it
}

// A VisitStage says what happened to the visit of a state.
type VisitStage uint8

// What happens to the visit of a state.
const (
	VisitEntered VisitStage = iota // the run entered the state
	VisitTried                     // an attempt of its task began
	VisitDid                       // an attempt of its task succeeded
	VisitBroke                     // an attempt failed; the state may be tried again, or a catcher may follow
	VisitLeft                      // the run left the state
	VisitFailed                    // the state failed, and no catcher applied
	VisitAborted                   // the state was ended because another one failed, or the run was stopped
	VisitTaken                     // a worker took the work of the node at the path; of no state
)
