package inspect

import (
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// An Owner is a process that drives a run, or drove it until it died.
type Owner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Alive   bool      `json:"alive"`
	Started time.Time `json:"started"`
}

// A WhyWait is a [Wait] as it is written in JSON.
type WhyWait struct {
	Kind    WaitKind  `json:"kind"`
	Path    string    `json:"path,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Due     time.Time `json:"due,omitzero"`
	Timeout string    `json:"timeout,omitempty"` // token, worker: which limit passes then
	Attempt int       `json:"attempt,omitempty"`
	Token   string    `json:"token,omitempty"`
	Work    string    `json:"work,omitempty"`    // worker: of which kind
	Worker  string    `json:"worker,omitempty"`  // worker: who has it, if anybody
	Message string    `json:"message,omitempty"` // its kind
	Name    string    `json:"name,omitempty"`    // of the signal or event
	Limit   string    `json:"limit,omitempty"`   // place: the limit that is reached
	Failure *Failure  `json:"failure,omitempty"`
}

// A Why is a [Diagnosis] as it is written in JSON.
type Why struct {
	Run     string    `json:"run"`
	Flow    string    `json:"flow"`
	State   string    `json:"state"`
	Outcome string    `json:"outcome"`
	Undo    string    `json:"undo"`
	Hold    bool      `json:"hold"` // suspended on purpose
	Owner   *Owner    `json:"owner"`
	Failure *Failure  `json:"failure,omitempty"`
	Waits   []WhyWait `json:"waits"`
	More    int       `json:"more,omitzero"` // atoms that are in the middle of something, too
	Wakes   []Wake    `json:"wakes"`

	Messages []Message `json:"messages,omitempty"` // that it still has to send
	Deaths   *Deaths   `json:"deaths,omitempty"`   // of processes that drove it, while it is a suspect

	Machine *flow.Waiting `json:"machine,omitempty"` // what its language says
}

// Why returns the diagnosis as it is written in JSON.
func (w *Diagnosis) Why(now time.Time) Why {
	run := &w.Run
	j := Why{
		Run: run.ID, Flow: run.Flow, State: run.State.String(), Outcome: outcomes[run.Outcome], Undo: undos[run.Undo], Hold: run.Hold,
		Failure: FailureOf(run.Failure), Waits: []WhyWait{}, Wakes: []Wake{}, Machine: w.Machine,
		More: w.More, Messages: MessagesOf(w.Sends), Deaths: deathsOf(run, now),
	}
	if o := w.Owner; o != nil {
		j.Owner = &Owner{PID: o.PID, Host: o.Host, Alive: o.Alive, Started: o.Started.UTC()}
	}
	waits := w.Waits()
	for i := range waits {
		one := &waits[i]
		to := WhyWait{
			Kind: one.Kind, Path: one.Path, Since: one.Since.UTC(), Due: one.Due.UTC(), Attempt: one.Attempt, Failure: one.Failure,
		}
		if one.Token != nil {
			to.Token, to.Work, to.Worker = one.Token.ID, one.Token.Queue, one.Token.Worker
			if one.Timeout != storage.NoLimit {
				to.Timeout = one.Timeout.String()
			}
		}
		if one.Limit != nil {
			to.Limit = one.Limit.Reason()
		}
		if one.Message != nil {
			to.Message, to.Name = one.Message.Kind, one.Message.Name
		}
		j.Waits = append(j.Waits, to)
	}
	j.Wakes = append(j.Wakes, w.Wakes(waits)...)
	return j
}
