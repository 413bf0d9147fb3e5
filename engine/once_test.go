package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestCommandOnce gives each command to one run at rest from many callers at once, by two processes' stores. Each caller
// that is not refused has had its command applied, as the run's history says.
//
// Guarantee (G6): A command that is answered as applied was applied once: of callers that saw the same end of a run, the
// others are refused.
// Also: `server/sfn: TestRedriveOnce`.
func TestCommandOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command   engine.Command
		undo      bool  // the run ends with a failed undo, before the command
		succeeds  bool  // the run succeeds before the command
		mostTimes int64 // how often callers may have it applied one after the other
	}{
		"retry":       {command: engine.RetryFrom(""), mostTimes: 8},
		"skip":        {command: engine.Skip("a"), undo: true, mostTimes: 1},
		"retryRevert": {command: engine.RetryRevert(""), undo: true, mostTimes: 8},
		"revert":      {command: engine.Revert("no need"), succeeds: true, mostTimes: 1},
	} {
		for _, sends := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				root := flow.Linear("f", atom.Task[struct{}, string]("a", doable{c.undo}),
					atom.Task[struct{}, string]("b", maybe{!c.succeeds}))
				file := "sqlite:" + filepath.Join(t.TempDir(), "ebb.db")
				var engines [2]*engine.Engine
				for i := range engines {
					store, err := sqlstore.Open(t.Context(), file)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = store.Close() })
					engines[i] = newEngine(t, root, engine.WithStore(store))
				}
				_, _ = engines[0].Run(t.Context(), "r")
				seen, err := engines[0].Store().Run(t.Context(), "r")
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var serving sync.WaitGroup
				if sends {
					serving.Go(func() {
						if err := engines[1].Serve(ctx); err != nil {
							t.Error(err)
						}
					})
				}
				var applied atomic.Int64
				var all sync.WaitGroup
				for i := range 8 {
					all.Go(func() {
						e := engines[i%2]
						command := c.command.By(storage.Issuer{Via: storage.ViaLibrary, Name: "x"})
						var err error
						if sends {
							for done := false; !done && err == nil; { // until a server says that it takes the run up
								done, err = engine.Apply(t.Context(), e.Store(), &seen, "key "+string(rune('a'+i)), command)
							}
						} else {
							_, err = e.Command(t.Context(), "r", command)
						}
						if !errors.Is(err, engine.ErrRefused) {
							applied.Add(1)
						}
					})
				}
				all.Wait()
				stop()
				serving.Wait()
				lines, err := engines[0].Store().Audit(t.Context(), backend.AuditQuery{Run: "r", Limit: 100})
				if err != nil {
					t.Fatal(err)
				}
				accepted := int64(0)
				for i := range lines {
					if lines[i].Entry.Failure == nil {
						accepted++
					}
				}
				if n := applied.Load(); n < 1 || n > c.mostTimes || sends && n != 1 || n != accepted {
					t.Errorf("%d callers had it applied; the history has it %d times", n, accepted)
				}
			})
		}
	}
}

// A doable task can be undone, unless it is stuck.
type doable struct{ stuck bool }

func (doable) Execute(context.Context, struct{}) (string, error) { return "", nil }

func (d doable) Revert(context.Context, struct{}, atom.Outcome[string]) error {
	if d.stuck {
		return errors.New("stuck")
	}
	return nil
}

type maybe struct{ fails bool }

func (f maybe) Execute(context.Context, struct{}) (string, error) {
	if f.fails {
		return "", errors.New("no")
	}
	return "", nil
}
