package main

import (
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

type jsonOwner struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Alive   bool      `json:"alive"`
	Started time.Time `json:"started"`
}

type jsonWait struct {
	Kind    waitKind     `json:"kind"`
	Path    string       `json:"path,omitempty"`
	Since   time.Time    `json:"since,omitzero"`
	Due     time.Time    `json:"due,omitzero"`
	Timeout string       `json:"timeout,omitempty"` // token, worker: which limit passes then
	Attempt int          `json:"attempt,omitempty"`
	Token   string       `json:"token,omitempty"`
	Work    string       `json:"work,omitempty"`    // worker: of which kind
	Worker  string       `json:"worker,omitempty"`  // worker: who has it, if anybody
	Message string       `json:"message,omitempty"` // its kind
	Name    string       `json:"name,omitempty"`    // of the signal or event
	Limit   string       `json:"limit,omitempty"`   // place: the limit that is reached
	Failure *jsonFailure `json:"failure,omitempty"`
}

// jsonDeaths are deaths of processes that a run may have caused.
type jsonDeaths struct {
	Count   int64     `json:"count"`
	Last    time.Time `json:"last"`
	PID     int       `json:"pid,omitempty"` // of the process that died last
	Host    string    `json:"host,omitempty"`
	OnTrial bool      `json:"on_trial"`
	Accused bool      `json:"accused"` // a process died while the run was on trial
}

func deathsJSON(run *storage.Run, now time.Time) *jsonDeaths {
	s := &run.Suspicion
	if run.State.Ended() || !run.Suspect(now) {
		return nil
	}
	return &jsonDeaths{
		Count: run.Lost, Last: s.Died.UTC(), PID: s.By.PID, Host: s.By.Host,
		OnTrial: s.Trial&storage.OnTrial != 0, Accused: s.Trial&storage.Accused != 0,
	}
}

type jsonDiagnosis struct {
	Run     string       `json:"run"`
	Flow    string       `json:"flow"`
	State   string       `json:"state"`
	Outcome string       `json:"outcome"`
	Undo    string       `json:"undo"`
	Hold    bool         `json:"hold"` // suspended on purpose
	Owner   *jsonOwner   `json:"owner"`
	Failure *jsonFailure `json:"failure,omitempty"`
	Waits   []jsonWait   `json:"waits"`
	More    int          `json:"more,omitzero"` // atoms that are in the middle of something, too
	Wakes   []wake       `json:"wakes"`

	Messages []jsonMessage `json:"messages,omitempty"` // that it still has to send
	Deaths   *jsonDeaths   `json:"deaths,omitempty"`   // of processes that drove it, while it is a suspect

	Machine *flow.Waiting `json:"machine,omitempty"` // what its language says
}

func (w *diagnosis) json(now time.Time) jsonDiagnosis {
	run := &w.run
	j := jsonDiagnosis{
		Run: run.ID, Flow: run.Flow, State: run.State.String(), Outcome: outcomes[run.Outcome], Undo: undos[run.Undo], Hold: run.Hold,
		Failure: failureJSON(run.Failure), Waits: []jsonWait{}, Wakes: []wake{}, Machine: w.machine,
		More: w.more, Messages: messagesJSON(w.sends), Deaths: deathsJSON(run, now),
	}
	if o := w.owner; o != nil {
		j.Owner = &jsonOwner{PID: o.PID, Host: o.Host, Alive: o.Alive, Started: o.Started.UTC()}
	}
	waits := w.waits()
	for i := range waits {
		one := &waits[i]
		to := jsonWait{
			Kind: one.kind, Path: one.path, Since: one.since.UTC(), Due: one.due.UTC(), Attempt: one.attempt, Failure: one.failure,
		}
		if one.token != nil {
			to.Token, to.Work, to.Worker = one.token.ID, one.token.Queue, one.token.Worker
			if one.timeout != storage.NoLimit {
				to.Timeout = one.timeout.String()
			}
		}
		if one.limit != nil {
			to.Limit = one.limit.Reason()
		}
		if one.message != nil {
			to.Message, to.Name = one.message.Kind, one.message.Name
		}
		j.Waits = append(j.Waits, to)
	}
	j.Wakes = append(j.Wakes, w.wakes(waits)...)
	return j
}
