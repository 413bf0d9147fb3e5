package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/turns"
)

// A turnRefused gate refuses the first turn that is asked for.
type turnRefused struct {
	gate

	refused bool
}

func (g *turnRefused) Enter(done <-chan struct{}) error {
	if !g.refused {
		g.refused = true
		return turns.ErrNoTurn
	}
	return g.gate.Enter(done)
}

// TestWriterForgets: once commits have returned, an idle writer keeps none of their data. They lead, share a
// transaction, are withdrawn, or are put back because their leader had no turn.
//
// Guarantee (G9): memory of runs that were set aside: freed.
// Also: `cmd/ebb: TestNestedMapsBesideSleepers`.
func TestWriterForgets(t *testing.T) {
	t.Parallel()
	const n = 5
	s := openFile(t, filepath.Join(t.TempDir(), "runs.db"))
	claims := make([]backend.Claim, n)
	for i := range claims {
		claims[i] = beginRun(t, s, fmt.Sprint("run", i))
	}
	var kept []weak.Pointer[backend.Checkpoint]
	commit := func(ctx context.Context, i int, seq int64) error {
		cp := nth(seq)
		kept = append(kept, weak.Make(cp))
		return s.Commit(ctx, claims[i], cp)
	}
	for seq, hitch := range []struct {
		name string
		gate gate
	}{{"in turn", s.writer.turns}, {"no turn", &turnRefused{gate: s.writer.turns}}} {
		release := occupy(t, s)
		s.writer.turns = hitch.gate // the goroutine that occupies the writer asks for no turn
		ctx, cancel := context.WithCancel(t.Context())
		errs := make([]error, n)
		var done sync.WaitGroup
		for i := range n {
			done.Go(func() {
				with := context.Background() //nolint:contextcheck // all but one wait without an end
				if i == n-1 {
					with = ctx
				}
				errs[i] = commit(with, i, int64(seq))
			})
			waitQueued(s.writer, i+1)
		}
		cancel()
		waitQueued(s.writer, n-1)
		release()
		done.Wait()
		for i, err := range errs {
			want := error(nil)
			switch {
			case i == n-1:
				want = context.Canceled
			case i == 0 && hitch.name == "no turn":
				want = turns.ErrNoTurn
			}
			if !errors.Is(err, want) {
				t.Errorf("%s: commit %d: %v, want %v", hitch.name, i, err, want)
			}
		}
	}
	runtime.GC()
	for i, cp := range kept {
		if cp.Value() != nil {
			t.Errorf("the writer keeps commit %d of %d", i, len(kept))
		}
	}
	runtime.KeepAlive(s)
}
