package driver

import (
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// withdraw takes the work of an attempt that is being cancelled out of its queue, with the next commit: from then on no
// worker can take it, unless one took it before.
func (ts *tokens) withdraw(cmd *scheduler.Command) {
	k := keyOf(cmd)
	if e := ts.open[k.path(ts.run)]; e != nil && e.token.Take == 0 {
		ts.next.GiveUp, ts.next.Dirty = append(ts.next.GiveUp, e.token.ID), true
	}
	ts.withdrawn = append(ts.withdrawn, k)
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
