package inspect

import (
	"time"

	"github.com/ebbflow/ebb/flow/grow"
)

// An Owner is a process that drives a run, or drove it until it died.
type Owner struct {
	PID     int       `json:"pid"`              // its process ID there
	Host    string    `json:"host"`             // name of its machine
	Alive   bool      `json:"alive"`            // it still runs
	Started time.Time `json:"started,omitzero"` // when it opened the store
}

// A Why is a [Diagnosis] in the form of `ebb why -o json`: why a run is in its present state, and what would change
// that.
type Why struct {
	Run     string `json:"run"`                   // id
	Flow    string `json:"flow"`                  // name of the flow
	State   string `json:"state"`                 // as in [Run]
	Outcome string `json:"outcome"`               // as in [Run]
	Undo    string `json:"undo"`                  // as in [Run]
	Person  bool   `json:"needs_person,omitzero"` // as in [Run]
	Hold    bool   `json:"hold"`                  // an operator suspended the run; no process resumes it on its own
	// Process that drives it, or drove it until it died; nil if there is none
	Owner   *Owner   `json:"owner"`
	Failure *Failure `json:"failure,omitempty"` // why it failed, or is suspended
	// States whose failure ended the run, the innermost first
	Failed []FailedState `json:"failed,omitempty"`
	// State in which it succeeded; nil if it did not, or has no states
	Last  *LastState `json:"last,omitempty"`
	Waits []Wait     `json:"waits"`         // what it waits for
	More  int        `json:"more,omitzero"` // atoms in progress that Waits leaves out
	// Messages in the inbox; Waits has the first 100
	Unread int64  `json:"unread,omitzero"`
	Wakes  []Wake `json:"wakes"` // what would let it continue

	Undone      int      `json:"undone,omitempty"`        // number of atoms that were reverted
	StaysDone   []string `json:"stays_done,omitempty"`    // atoms that nothing reverts, at most 100
	MayStayDone []string `json:"may_stay_done,omitempty"` // as StaysDone, if their effect is not known

	Messages []Message `json:"messages,omitempty"` // messages in the outbox that the run still has to send
	// Deaths of processes that the run may have caused; nil if it is in no crash loop
	Deaths *Deaths `json:"deaths,omitempty"`

	Machine *grow.Waiting `json:"machine,omitempty"` // what the run waits for in the terms of its language
}

// Why returns the diagnosis in the form of `ebb why -o json`. Ages and overdue times are counted from now.
func (w *Diagnosis) Why(now time.Time) Why {
	run := &w.Run
	j := Why{
		Run: run.ID, Flow: run.Flow, State: run.State.String(), Outcome: run.Outcome.String(),
		Undo: run.Undo.String(), Person: run.NeedsPerson(),
		Hold:    run.Hold,
		Failure: FailureOf(run.Failure), Waits: []Wait{}, Wakes: []Wake{}, Machine: w.Machine,
		Failed: w.Failed, Last: w.Last,
		Undone: w.Undo.Undone, StaysDone: w.Undo.StaysDone.First, MayStayDone: w.Undo.MayStayDone.First,
		More: w.More, Unread: w.Unread, Messages: MessagesOf(w.Sends), Deaths: deathsOf(run, now),
	}
	if o := w.Owner; o != nil {
		j.Owner = ownerOf(o)
	}
	j.Waits = append(j.Waits, w.Waits(now)...)
	j.Wakes = append(j.Wakes, w.Wakes(j.Waits)...)
	return j
}
