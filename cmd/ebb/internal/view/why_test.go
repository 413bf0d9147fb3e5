package view

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

var busy = &atom.Failure{Code: "BankBusy", Message: "call\nagain"}

// diagnoses are runs in a state, and why they are in it.
var diagnoses = map[string]func(w *inspect.Diagnosis){
	"moving": func(w *inspect.Diagnosis) {
		w.Atoms = []storage.Atom{
			{Path: "P[0]/Pay", State: states.TaskRunning, Attempt: 2, StartedAt: start.Add(-90 * time.Second)},
			{Path: "Pause", State: states.TaskRunning, Kind: storage.KindTimer, Due: start.Add(10 * time.Minute)},
			{Path: "Ship", State: states.TaskRetrying, Attempt: 1, Due: start.Add(5 * time.Second), Failure: busy},
			{Path: "Approve", State: states.TaskRunning, Attempt: 1, StartedAt: start.Add(-time.Hour)},
		}
		w.Tokens["Approve"] = &storage.Token{ID: "T0KEN", Path: "Approve", Deadline: start.Add(time.Hour)}
		w.Timers = []storage.TimerRow{{Path: "Ship", Kind: storage.TimerRetry}, {Kind: storage.TimerDeadline, Due: start.Add(2 * time.Hour)}}
		w.Messages = []storage.Message{{Kind: "signal", Name: "paid", Sent: start.Add(-time.Second)}}
	},
	"signal": func(w *inspect.Diagnosis) { // of a Go flow, which ebb cannot resume
		w.Owner, w.Run.Owner, w.Run.Definition = nil, "", ""
		w.Atoms = []storage.Atom{{Path: "Approve", State: states.TaskRunning, Attempt: 1, Signal: "approved", StartedAt: start.Add(-time.Hour)}}
		w.Timers = []storage.TimerRow{{Path: "Approve", Kind: storage.TimerToken, Due: start.Add(time.Hour)}}
	},
	"working": func(w *inspect.Diagnosis) {
		w.Owner, w.Run.Owner = nil, ""
		w.Atoms = []storage.Atom{
			{Path: "Queued", State: states.TaskRunning, Attempt: 1, StartedAt: start.Add(-time.Hour)},
			{Path: "Taken", State: states.TaskRunning, Attempt: 1, StartedAt: start.Add(-time.Hour)},
			{Path: "Nameless", State: states.TaskRunning, Attempt: 1, StartedAt: start.Add(-time.Hour)},
			{Path: "Lost", State: states.TaskReverting, Attempt: 1, StartedAt: start.Add(-time.Hour)},
			{Path: "Wanted", State: states.TaskRunning, Attempt: 1, StartedAt: start.Add(-time.Hour)},
			{Path: "Limited", State: states.TaskRunning, Attempt: 1, StartedAt: start.Add(-time.Hour)},
			{Path: "Watched", State: states.TaskRunning, Attempt: 1, StartedAt: start.Add(-time.Hour)},
		}
		for _, t := range []storage.Token{
			{ID: "T1", Path: "Queued"},
			{ID: "T2", Path: "Taken", Worker: "w1", Lease: start.Add(time.Second), Deadline: start.Add(time.Hour)},
			{ID: "T3", Path: "Nameless", Worker: "?"},
			{ID: "T4", Path: "Lost", Worker: "w2", Lease: start.Add(-time.Second)},
			{ID: "T5", Path: "Wanted", Since: start.Add(-time.Hour), ScheduleToStart: 2 * time.Hour, StartToClose: time.Second},
			{ID: "T6", Path: "Limited", Worker: "w3", Take: 1, Since: start.Add(-time.Minute), StartToClose: time.Hour, Deadline: start.Add(time.Hour)},
			{ID: "T7", Path: "Watched", Worker: "w4", Take: 1, Since: start.Add(-time.Minute), Heartbeat: time.Hour, Beat: start.Add(-time.Second)},
		} {
			t.Queue = "charge"
			w.Tokens[t.Path] = &t
		}
	},
	"dead": func(w *inspect.Diagnosis) {
		w.Owner.Alive = false
		w.Atoms = []storage.Atom{{Path: "Pay", State: states.TaskRunning, Attempt: 1, StartedAt: start.Add(-time.Second)}}
		w.Messages = []storage.Message{{Kind: "cancel", Sent: start.Add(-time.Second)}}
	},
	"cancelling": func(w *inspect.Diagnosis) {
		w.Run.Outcome, w.Run.Failure = storage.Cancelled, &atom.Failure{Code: atom.CodeCancelled, Message: "the customer called"}
		w.Atoms = []storage.Atom{
			{Path: "Book", State: states.TaskReverting, Attempt: 1, StartedAt: start.Add(-time.Second)},
			{Path: "Rent", State: states.TaskReverting, Attempt: 1, RevertAttempt: 2, Due: start.Add(time.Minute), RevertFailure: busy},
		}
	},
	"parked": func(w *inspect.Diagnosis) {
		w.Owner, w.Run.State, w.Run.Hold, w.Run.Failure = nil, states.FlowSuspended, true, busy
		w.Atoms = []storage.Atom{{Path: "Book", State: states.TaskRevertFailure, RevertAttempt: 3, RevertFailure: busy}}
	},
	"crash loop": func(w *inspect.Diagnosis) {
		w.Run.Lost = 3
		w.Run.CrashLoop = storage.CrashLoop{Isolation: storage.Blamed, Died: start.Add(-time.Minute), By: storage.Process{Owner: "p", Host: "box", PID: 4710}}
	},
	"set aside": func(w *inspect.Diagnosis) {
		w.Owner, w.Run.State, w.Run.Hold = nil, states.FlowSuspended, true
		w.Run.Failure = &atom.Failure{Code: atom.CodeLost, Message: "the run kills the processes that drive it"}
	},
	"held":    func(w *inspect.Diagnosis) { w.Owner, w.Run.State, w.Run.Hold = nil, states.FlowSuspended, true },
	"new":     func(w *inspect.Diagnosis) { w.Owner, w.Run.State = nil, states.FlowPending },
	"resting": func(w *inspect.Diagnosis) { w.Owner, w.Run.State = nil, states.FlowSuspending },
	"ended": func(w *inspect.Diagnosis) {
		w.Owner, w.Run.State, w.Run.Outcome = nil, states.FlowSuccess, storage.Succeeded
		w.Atoms = []storage.Atom{{Path: "Late", State: states.TaskRunning}}
	},
	"sending": func(w *inspect.Diagnosis) {
		w.Owner, w.Run.State, w.Run.Outcome = nil, states.FlowSuccess, storage.Succeeded
		w.Sends = []inspect.Unsent{
			{Outgoing: storage.Outgoing{ID: "m1", Run: "trip-1", Target: "bus", Attempts: 20, Parked: true, Error: "the bus says 503"}, Behind: 2},
			{Outgoing: storage.Outgoing{ID: "m2", Run: "trip-1", Attempts: 1, Error: "no route", NotUntil: start.Add(time.Minute)}},
			{Outgoing: storage.Outgoing{ID: "m3", Run: "trip-1", Target: "mail"}},
		}
	},
	"undo failed": func(w *inspect.Diagnosis) {
		w.Owner, w.Run.State, w.Run.Outcome, w.Run.Undo = nil, states.FlowFailure, storage.FailedOutcome, storage.UndoFailed
		w.Atoms = []storage.Atom{{Path: "Book", State: states.TaskRevertFailure, RevertFailure: busy}}
	},
}

// TestWhy tells why runs stand where they do, to people and to programs.
func TestWhy(t *testing.T) {
	t.Parallel()
	local := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	for name, arrange := range diagnoses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &inspect.Diagnosis{
				Run:    storage.Run{ID: "trip-1", Flow: "trip", Definition: "d", State: states.FlowRunning, Owner: "o"},
				Owner:  &storage.Owner{ID: "o", Host: "box", PID: 4711, Started: start, Alive: true},
				Tokens: map[string]*storage.Token{},
			}
			arrange(w)
			text := strings.Join(Why(w, start), "\n")
			machine, err := json.MarshalIndent(w.Why(start), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "why-"+strings.ReplaceAll(name, " ", "-")+".txt", local.ReplaceAllString(text, "DATE")+"\n\n"+string(machine)+"\n")
		})
	}
}
