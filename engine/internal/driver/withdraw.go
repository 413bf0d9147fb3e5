package driver

import (
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// withdraw makes the next commit prevent other parties from ending an attempt that is given up. Work that no worker has
// taken keeps its token until the driver knows that none was faster.
func (ts *tokens) withdraw(cmd *scheduler.Command) {
	k := keyOf(cmd)
	switch e := ts.open[k.path(ts.run)]; {
	case e == nil || e.token.ID == "" || e.token.State != storage.TokenOpen:
	case e.token.Queue != "" && e.token.Take == 0:
		ts.next.GiveUp, ts.next.Dirty = append(ts.next.GiveUp, e.token.ID), true
	default:
		ts.void(e)
	}
	ts.withdrawn = append(ts.withdrawn, k)
}

// void closes the token of an attempt with the next commit, unless another party has ended it before.
func (ts *tokens) void(e *external) {
	ts.next.Token(storage.Token{ID: e.token.ID, Run: ts.claim.Run, Path: e.path(ts.run), State: storage.TokenGone})
	e.token.State = storage.TokenGone
}

// untaken reports whether no party has had the token of an attempt that workers take from a queue, when the token was
// read last: no worker took it, nobody ended it, and nobody who found its id sent a heartbeat.
func (ts *tokens) untaken(path string) bool {
	e := ts.open[path]
	if e == nil {
		return false
	}
	t := &e.token
	return t.Queue != "" && t.State == storage.TokenOpen && t.Take == 0 && !t.Beat.After(t.Since)
}
