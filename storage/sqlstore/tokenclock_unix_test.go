//go:build unix

package sqlstore_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestTokenServersClock takes attempts of workers while the server's clock is an hour off, and after it was set while the
// store was open. The limit of an attempt counts by that clock, as do the other times of atoms.
//
// Guarantee (G2): Time limits and heartbeats of workers' attempts count by the clock of the database.
func TestTokenServersClock(t *testing.T) {
	t.Parallel()
	dsn := stepped(t)
	s := openServer(t, dsn)
	defer shut(t, s)
	must(t, s.Create(t.Context(), storage.Run{ID: "r", Flow: "f", Structure: "x"}))
	claim, snap, err := s.Begin(t.Context(), "r")
	must(t, err)
	at := time.Now()
	cp := &backend.Checkpoint{Head: backend.Head{Seq: snap.Run.Seq, State: states.FlowRunning, Time: at, Release: true}}
	for _, id := range []string{"a", "b", "c", "d"} {
		cp.Tokens = append(cp.Tokens, storage.Token{
			ID: id, Run: "r", Path: id, Queue: "q", Beat: at, Since: at, StartToClose: time.Minute, Heartbeat: time.Minute,
		})
	}
	must(t, s.Commit(t.Context(), claim, cp))
	for _, queues := range [][]string{{"q"}, {"q", "another"}} {
		for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
			postgrestest.SetClock(t, dsn, ahead)
			must(t, s.ReadClock(t.Context()))
			tok, err := s.TakeToken(t.Context(), storage.WorkRequest{Queues: queues, Worker: "w", Lease: 9 * time.Hour})
			must(t, err)
			limit, due := tok.Due()
			if in := due.Sub(s.Now()); limit == storage.NoLimit || in < 30*time.Second || in > 61*time.Second {
				t.Errorf("with the server's clock %v off, %v is due in %v", ahead, tok.ID, in)
			}
		}
	}
}
