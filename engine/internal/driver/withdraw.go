package driver

import (
	"slices"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// A withdrawn attempt is given up, with what other parties could end it with; nil if they could not.
type withdrawn struct {
	*external

	key timerKey
}

// withdraw makes the next commit prevent other parties from ending an attempt that is given up. Work that no worker has
// taken keeps its token until the driver knows that none was faster.
func (ts *tokens) withdraw(cmd *scheduler.Command) {
	k := keyOf(cmd)
	e := ts.open[k.path(ts.run)]
	switch {
	case e == nil || e.token.ID == "" || e.token.State != storage.TokenOpen:
	case e.token.Queue != "" && e.token.Take == 0:
		ts.next.GiveUp, ts.next.Dirty = append(ts.next.GiveUp, e.token.ID), true
	default:
		ts.void(e)
	}
	ts.withdrawn = append(ts.withdrawn, withdrawn{e, k})
}

// has reports whether a withdrawn attempt has not ended.
func (ts *tokens) has(w withdrawn) bool { return ts.open[w.key.path(ts.run)] == w.external }

// shut closes the token of an attempt with the next commit, which fails if another party has changed the token since
// the driver read it. Then the run is loaded again.
func (ts *tokens) shut(e *external) {
	if slices.ContainsFunc(ts.next.Tokens, func(t storage.Token) bool { return t.ID == e.token.ID }) {
		ts.void(e) // no other party knows it yet
		return
	}
	e.token.State = storage.TokenGone
	ts.next.Use(storage.TokenUse{Token: e.token, Was: e.token.Take})
}

// void closes the token of an attempt with the next commit, unless another party has ended it before.
func (ts *tokens) void(e *external) {
	ts.next.Token(storage.Token{ID: e.token.ID, Run: ts.claim.Run, Path: e.path(ts.run), State: storage.TokenGone})
	e.token.State = storage.TokenGone
}

// untaken reports whether no party has had the token of an attempt that workers take from a queue, when the token was
// read last: no worker took it, nobody ended it, and nobody who found its id sent a heartbeat.
func (e *external) untaken() bool {
	if e == nil {
		return false
	}
	t := &e.token
	return t.Queue != "" && t.State == storage.TokenOpen && t.Take == 0 && !t.Beat.After(t.Since)
}
