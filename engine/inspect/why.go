package inspect

import (
	"time"

	"github.com/ebbflow/ebb/flow"
)

// An Owner is a process that drives a run, or drove it until it died.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Alive   bool      `json:"alive"`
	Started time.Time `json:"started"`
}

// A Why is a [Diagnosis] as it is written in JSON.
type Why struct {
	Run     string   `json:"run"`
	Flow    string   `json:"flow"`
	State   string   `json:"state"`
	Outcome string   `json:"outcome"`
	Undo    string   `json:"undo"`
	Hold    bool     `json:"hold"` // suspended on purpose
	Owner   *Owner   `json:"owner"`
	Failure *Failure `json:"failure,omitempty"`
	Waits   []Wait   `json:"waits"`
	More    int      `json:"more,omitzero"` // atoms that are in the middle of something, too
	Wakes   []Wake   `json:"wakes"`

	Messages []Message `json:"messages,omitempty"` // that it still has to send
	Deaths   *Deaths   `json:"deaths,omitempty"`   // of processes that drove it, while it is a suspect

	Machine *flow.Waiting `json:"machine,omitempty"` // what its language says
}

// Why returns the diagnosis as it is written in JSON.
func (w *Diagnosis) Why(now time.Time) Why {
	run := &w.Run
	j := Why{
		Run: run.ID, Flow: run.Flow, State: run.State.String(), Outcome: outcomes[run.Outcome], Undo: undos[run.Undo], Hold: run.Hold,
		Failure: FailureOf(run.Failure), Waits: []Wait{}, Wakes: []Wake{}, Machine: w.Machine,
		More: w.More, Messages: MessagesOf(w.Sends), Deaths: deathsOf(run, now),
	}
	if o := w.Owner; o != nil {
		j.Owner = &Owner{PID: o.PID, Host: o.Host, Alive: o.Alive, Started: o.Started.UTC()}
	}
	j.Waits = append(j.Waits, w.Waits()...)
	j.Wakes = append(j.Wakes, w.Wakes(j.Waits)...)
	return j
}
