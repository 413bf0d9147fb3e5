package inspect

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A hindrance is why no process drives a run that could go on, or claims a job. Each kind is decided here, and nowhere
// else: lists, groups and reports ask for it.

// The kinds of hindrances. Their texts are stable parts of the JSON.
const (
	WaitsForProcess   WaitKind = "process"   // a process that serves the flow: the run is due, and none drives it
	WaitsForFlow      WaitKind = "refused"   // a process that can drive the run: one has refused it, for Reason
	WaitsForOffer     WaitKind = "offer"     // a process that offers what the run needs
	WaitsForSlot      WaitKind = "slot"      // a slot of a process: all are taken
	WaitsForMemory    WaitKind = "memory"    // memory of a process: its budget is used up
	WaitsForIsolation WaitKind = "isolation" // a process that tries whether another run kills it
	WaitsForTake      WaitKind = "take"      // a process that serves the flow takes it up
	WaitsForStopped   WaitKind = "stopped"   // the process that drives it, which was stopped, continues or ends
	WaitsForPlace     WaitKind = "place"     // a place: as many runs are driven as a limit allows
	WaitsForRate      WaitKind = "rate"      // a rate allows the next claim
	WaitsForDatabase  WaitKind = "database"  // the database, which takes no writes for Reason
	WaitsForOperator  WaitKind = "resume"    // an operator, who suspended the run, resumes it
	WaitsForPerson    WaitKind = "person"    // a person decides, see [storage.Run.NeedsPerson]
)

// hindrance returns why no process drives the run although it could go on; nil if it goes on, or waits for something
// else.
func (w *Diagnosis) hindrance(now time.Time) *Wait {
	run := &w.Run
	due := !run.Due.IsZero() && !run.Due.After(now) || run.State == states.FlowPending && w.Place != nil
	one := &Wait{Kind: WaitsForProcess, Since: run.Due.UTC(), Flow: run.Flow}
	one.definition = run.Definition != "" || backend.IsOwnFlow(run.Flow)
	switch {
	case run.State.Ended():
		return nil
	case w.Barred != "":
		return &Wait{Kind: WaitsForDatabase, Reason: w.Barred}
	case w.Alive() && w.Owner.Stopped:
		return &Wait{Kind: WaitsForStopped, Process: ownerOf(w.Owner)}
	case w.Alive():
		return nil
	case run.Hold || run.State == states.FlowSuspended:
		return w.held()
	case !due && run.Owner == "" && (w.Refusal == nil || w.Server != nil):
		return nil
	case !due:
		one.Since = time.Time{} // it is due since its owner has died
	}
	t := taking{
		server: w.Server, busy: w.Busy, slots: w.Slots, refusal: w.Refusal, changed: w.Changed, needs: w.Needs,
	}
	if run.Owner == "" {
		t.limited = w.Place
	}
	one.hinderedBy(&t)
	return one
}

// taking is what decides whether a process takes up something that could go on: a run that is due, or a job.
type taking struct {
	barred  string                // why the database takes no writes; "" if it does
	limited *storage.LimitedError // the limit that holds it back; nil if none does
	server  *storage.Owner        // process that may take it up; nil if there is none
	busy    string                // why server takes up nothing now, see [engine.Presence]
	slots   int                   // slots of server
	refusal *RunRefusal           // why a process has refused it; nil if none has
	changed *storage.Owner        // process whose flow has this name, but another structure; nil if there is none
	needs   []string              // what it needs, if no process offers it
}

// hinderedBy sets why no process takes it up. If it is only that no process serves its flow, the kind stays.
func (one *Wait) hinderedBy(t *taking) {
	switch {
	case t.barred != "":
		one.Kind, one.Reason, one.Process = WaitsForDatabase, t.barred, nil
	case t.limited != nil:
		one.Kind, one.Limit, one.limited = WaitsForPlace, t.limited.Reason(), t.limited
		if !t.limited.Next.IsZero() {
			one.Kind, one.Due = WaitsForRate, t.limited.Next.UTC()
		}
	case t.server != nil && (t.refusal == nil || t.refusal.Owner != t.server.ID):
		one.Kind, one.Process, one.slots = busyKinds[t.busy], ownerOf(t.server), t.slots
	case t.refusal != nil:
		one.Kind, one.Reason, one.Since = WaitsForFlow, visible.Line(t.refusal.Why), t.refusal.At.UTC()
		one.Process = &Owner{PID: t.refusal.PID, Host: t.refusal.Host, Alive: t.refusal.Alive}
	case t.changed != nil:
		one.Kind, one.Process = WaitsForFlow, ownerOf(t.changed)
		one.Reason = "the flow has changed since the run was begun: see engine.AcceptChange"
	case len(t.needs) > 0:
		one.Kind, one.Needs = WaitsForOffer, t.needs
	}
}

// busyKinds are the kinds of waits for a server, by [engine.Presence.Busy].
var busyKinds = map[string]WaitKind{
	"": WaitsForTake, "slots": WaitsForSlot, "memory": WaitsForMemory, "isolation": WaitsForIsolation,
}

// held returns the hindrance of a suspended run; nil if its atoms say what a person must decide.
func (w *Diagnosis) held() *Wait {
	run := &w.Run
	for i := range w.Atoms {
		if w.Atoms[i].State == states.TaskRevertFailure {
			return nil
		}
	}
	for i := range w.Messages {
		if w.Messages[i].Kind == backend.MessageResume && run.Hold { // the process that has its flow reads it
			return nil
		}
	}
	if run.NeedsPerson() {
		return &Wait{Kind: WaitsForPerson, Since: run.Updated.UTC(), Failure: FailureOf(run.Failure)}
	}
	return &Wait{Kind: WaitsForOperator, Since: run.Updated.UTC()}
}

// ownerOf returns the process in JSON.
func ownerOf(o *storage.Owner) *Owner {
	return &Owner{PID: o.PID, Host: o.Host, Alive: o.Alive, Started: o.Started.UTC()}
}

// String names the process, such as: process 4711 on box.
func (o *Owner) String() string { return fmt.Sprintf("process %d on %s", o.PID, visible.Line(o.Host)) }
