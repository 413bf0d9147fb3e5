package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// overtaken is a store with an event just before or after a time limit ends a token.
type overtaken struct {
	backend.Store

	before func()
	after  error
}

func (s *overtaken) EndToken(ctx context.Context, id string, end storage.TokenEnd) (storage.Token, error) {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	token, err := s.Store.EndToken(ctx, id, end)
	if after := s.after; err == nil && after != nil {
		s.after = nil
		return token, after
	}
	return token, err
}

// TestUntakenOverdue lets the time limit of work pass, then undoes the run. If no worker has taken the work, nothing of
// it stays done, and its undo is not called. This also holds if the process dies right after the limit has ended the
// work. If a worker has taken it, also just before, its outcome is unknown.
//
// Guarantee (Waiting and time): Work whose time limit passed before a worker has taken it is not reverted, and no view
// shows it as undone or as staying done, also if its process dies meanwhile. A worker that takes it at the same moment
// counts.
func TestUntakenOverdue(t *testing.T) {
	t.Parallel()
	for language, c := range atWork {
		for name, how := range map[string]struct{ stays, taken, late, dies bool }{
			"overdue":            {},
			"overdue, stays":     {stays: true},
			"dies":               {dies: true},
			"dies, stays":        {dies: true, stays: true},
			"taken":              {taken: true},
			"taken, stays":       {taken: true, stays: true},
			"just before":        {taken: true, late: true},
			"just before, stays": {taken: true, late: true, stays: true},
		} {
			if language == "sm4c" {
				continue // its calls have no deadline: the machine cancels them, which withdraws their work
			}
			t.Run(language+"/"+name, func(t *testing.T) {
				inEach(t, func(t *testing.T, opts ...engine.Option) {
					s, failing := failsWhenTold("c")
					store := &overtaken{Store: memstore.New()}
					if how.late {
						store.before = func() { take(t, store, c.queue) }
					}
					if how.dies {
						store.after = errLost
					}
					eng := newEngine(t, c.root(t, s, how.stays), append(opts, engine.WithStore(store), engine.WithTasks(staffed{parts{s}}))...)
					ended := make(chan error, 1)
					drive := func() { _, err := eng.Run(t.Context(), "r"); ended <- err }
					go drive()
					synctest.Wait()
					if how.taken && !how.late {
						take(t, store, c.queue)
					}
					time.Sleep(workLimit + time.Second)
					synctest.Wait()
					if how.dies {
						if err := <-ended; err == nil || !strings.Contains(err.Error(), errLost.Error()) {
							t.Fatalf("the process did not die: %v", err)
						}
						go drive()
						synctest.Wait()
					}
					close(failing) // a Go flow waits for executing atoms
					wantWithdrawn(t, store, c.queue, how.taken)
					undone := 1
					if how.taken && !how.stays {
						undoWork(t, store, c.queue, "unknown")
						undone++
					}
					wantFailed(t, store, ended)
					wantUndo(t, store, undone, how.stays && how.taken)
				})
			})
		}
	}
}
