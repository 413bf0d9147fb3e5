package attempts

import (
	"slices"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Withdrawal is an attempt that is given up, with what other parties could end it with; nil if they could not.
type Withdrawal struct {
	*Attempt

	unit *scheduler.Unit
}

// Withdraw makes the next commit prevent other parties from ending an attempt that is given up. Work that no worker has
// taken keeps its token until the driver knows that none was faster.
func (t *Table) Withdraw(cmd *scheduler.Command) {
	u := cmd.Unit
	a := t.Of(u)
	switch {
	case a == nil || a.Token.ID == "" || a.Token.State != storage.TokenOpen:
	case a.Token.Queue != "" && a.Token.Take == 0:
		t.draft.GiveUp, t.draft.Dirty = append(t.draft.GiveUp, a.Token.ID), true
	default:
		t.void(a)
	}
	t.withdrawn = append(t.withdrawn, Withdrawal{a, u})
}

// TakeWithdrawn removes and returns the attempts that are given up.
func (t *Table) TakeWithdrawn() (list []Withdrawal) {
	list, t.withdrawn = t.withdrawn, nil
	return list
}

// IsOpen reports whether an attempt that is given up has not ended.
func (t *Table) IsOpen(w Withdrawal) bool { return t.Of(w.unit) == w.Attempt }

// InQueue reports whether a worker may take the work of an attempt that is given up, or has taken it since the token
// was read.
func (t *Table) InQueue(w Withdrawal) bool {
	return t.IsOpen(w) && w.Attempt != nil && w.Token.Queue != "" && w.Token.State == storage.TokenOpen &&
		w.Token.Take == 0
}

// Withdrawn returns the event for the end of an attempt that is given up. If no party has had its token, the next
// commit fails if a party gets it meanwhile.
func (t *Table) Withdrawn(w Withdrawal) scheduler.Event {
	untaken := w.Untaken()
	if untaken {
		t.Shut(w.Attempt)
	}
	return scheduler.Event{Kind: scheduler.Withdrawn, Unit: w.unit, Untaken: untaken}
}

// Seal closes the tokens of a run that is about to be stopped with the next commit. It returns their attempts. Work
// that no worker has taken is withdrawn with the stop.
func (t *Table) Seal() (given []Withdrawal) {
	for _, a := range t.open {
		// Otherwise its end is in the inbox, perhaps behind what stops the run.
		isOpen := a.Token.State == storage.TokenOpen
		if a.Token.ID == "" || a.Unit == nil || a.Rec.State != states.TaskRunning ||
			isOpen && a.Token.Queue != "" && a.Token.Take == 0 {
			continue // also the token of a revert
		}
		t.Void(a)
		given = append(given, Withdrawal{a, a.Unit})
	}
	return given
}

// Shut closes the token of an attempt with the next commit, which fails if another party has changed the token since
// the driver read it. Then the run is loaded again.
func (t *Table) Shut(a *Attempt) {
	if slices.ContainsFunc(t.draft.Tokens, func(k storage.Token) bool { return k.ID == a.Token.ID }) {
		t.void(a) // no other party knows it yet
		return
	}
	a.Token.State = storage.TokenGone
	t.draft.Use(backend.TokenUse{Token: a.Token, Was: a.Token.Take})
}

// Void closes the token of an attempt, if it is open, with the next commit, unless another party has ended it before.
func (t *Table) Void(a *Attempt) {
	if a.Token.State == storage.TokenOpen {
		t.void(a)
	}
}

func (t *Table) void(a *Attempt) {
	t.draft.Token(storage.Token{ID: a.Token.ID, Run: t.run, Path: a.Token.Path, State: storage.TokenGone})
	a.Token.State = storage.TokenGone
}

// Untaken reports whether no party has had the token of an attempt that workers take from a queue, when the token was
// read last: no worker took it, nobody ended it, and nobody who found its id sent a heartbeat.
func (a *Attempt) Untaken() bool {
	if a == nil {
		return false
	}
	k := &a.Token
	return k.Queue != "" && k.State == storage.TokenOpen && k.Take == 0 && !k.Beat.After(k.Since)
}
