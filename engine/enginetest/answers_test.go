package enginetest_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// approved is a flow that stores a parcel, waits for a signal, a day and a token, and sends the parcel.
func approved(d *depot, limit time.Duration) flow.Node {
	id := atom.Inject("id", "p")
	ask := atom.Func("ask", func(context.Context, struct{}) (string, error) { return "", atom.ErrDeferred },
		atom.Deferrable(atom.Deferral{Deadline: time.Hour}), atom.As("by"), atom.NoEffect())
	return flow.Linear("order", storing(d, "store", id),
		atom.Awaits[string]("approve", "approved", atom.Deferral{Deadline: limit}, atom.As("approval")), ask, storing(d, "send", id))
}

func storing(d *depot, name string, opts ...atom.Option) *atom.Atom {
	return atom.Pair(name, func(ctx context.Context, in parcel) (struct{}, error) {
		d.parcels[atom.IdempotencyKey(ctx)] = in.ID
		return struct{}{}, nil
	}, func(ctx context.Context, _ parcel, _ atom.Outcome[struct{}]) error {
		delete(d.parcels, atom.IdempotencyKey(ctx))
		return nil
	}, opts...)
}

func waiting(limit time.Duration) enginetest.World[*depot] {
	return enginetest.World[*depot]{
		New:     func(testing.TB) *depot { return &depot{parcels: map[string]string{}} },
		Flow:    func(d *depot) flow.Node { return approved(d, limit) },
		State:   func(d *depot) any { return maps.Clone(d.parcels) },
		Answers: map[string]any{"approve": "yes", "ask": "ann"},
	}
}

// TestFailAtAnswers answers a signal and a token, refuses each, leaves each unanswered, and crashes around them.
func TestFailAtAnswers(t *testing.T) {
	enginetest.FailAt(t, waiting(48*time.Hour))
}

// TestFailAtNamesWhatNobodyAnswers says what to do if no answer comes and nothing bounds the wait.
func TestFailAtNamesWhatNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reporter{}
		w := waiting(0)
		w.Answers = nil
		enginetest.FailAt(r, w)
		if len(r.failures) != 1 || !strings.Contains(r.failures[0],
			"it waits for ever at approve. Give approve an answer in World.Answers") {
			t.Errorf("found %q", r.failures)
		}
	})
}

// TestFailAtFindsEndlessWait finds a wait that never ends without an answer, and nothing else. On a file, too, it does
// not let virtual time pass for long.
func TestFailAtFindsEndlessWait(t *testing.T) {
	t.Run("memory", func(t *testing.T) { findsEndlessWait(t, waiting(0)) })
	t.Run("file", func(t *testing.T) {
		w, dir := waiting(0), t.TempDir()
		var names atomic.Int32 // an address may be that of an earlier depot
		w.New = func(testing.TB) *depot {
			return &depot{
				parcels: map[string]string{}, file: filepath.Join(dir, fmt.Sprintf("%d.db", names.Add(1))),
			}
		}
		w.Flow = func(d *depot) flow.Node {
			return flow.Linear("order", storing(d, "store", atom.Inject("id", "p")),
				atom.Awaits[string]("approve", "approved", atom.Deferral{}))
		}
		w.Answers = map[string]any{"approve": "yes"}
		w.Store = func(d *depot) (storage.Store, error) {
			return sqlstore.Open(context.Background(), d.file)
		}
		findsEndlessWait(t, w)
	})
}

func findsEndlessWait(t *testing.T, w enginetest.World[*depot]) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &reporter{}
		enginetest.FailAt(r, w)
		if len(r.failures) != 1 || !strings.HasPrefix(r.failures[0], "FailAt/approve/no_answer: ") ||
			!strings.Contains(r.failures[0], "waits for ever, as approve has no Deadline") {
			t.Errorf("found %q", r.failures)
		}
	})
}
