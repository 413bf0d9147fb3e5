package inbox_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A listener counts the notifications that reach a driver of a run.
type listener struct{ told int }

func (l *listener) Notify() { l.told++ }
func (*listener) Doubt()    {}
func (*listener) Wake()     {}

// TestSecondDriverStays: a driver that took a run before the last one left is still notified when that one has left,
// and both can leave.
//
// Guarantee (Jobs): A driver that leaves a run stops no messages to the next one of its process.
func TestSecondDriverStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		if err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "f"}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := store.Begin(t.Context(), "r"); err != nil { // messages reach the owner of a run only
			t.Fatal(err)
		}
		w := &inbox.Watcher{Store: store, Log: hclog.NewNullLogger()}
		first, second := &listener{}, &listener{}
		w.Join("r", first, w.Mark())
		synctest.Wait()
		w.Join("r", second, w.Mark())
		w.Leave("r", first)
		if err := store.Send(t.Context(), storage.Message{Run: "r", Kind: "signal", Name: "go"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if first.told != 0 || second.told != 1 {
			t.Errorf("the first driver was notified %d times, the second %d times", first.told, second.told)
		}
		w.Leave("r", second)
		w.Join("r", first, w.Mark()) // the watcher works again
		w.Leave("r", first)
	})
}

// A brokenStore does not say which runs have messages.
type brokenStore struct{ storage.Store }

func (brokenStore) RunsWithMessages(context.Context, int64) ([]storage.Arrival, int64, error) {
	return nil, 0, errors.New("no answer")
}

// TestFailureLoggedOnce: a store that does not answer is asked again and again, and logged once at warn.
func TestFailureLoggedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		store := brokenStore{memstore.New()}
		w := &inbox.Watcher{Store: store, Log: hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Warn})}
		run := &listener{}
		w.Join("r", run, w.Mark())
		time.Sleep(time.Second)
		synctest.Wait()
		w.Leave("r", run)
		if text := out.String(); strings.Count(text, "inbox.failed") != 1 || !strings.Contains(text, `error="no answer"`) {
			t.Errorf("got %s", text)
		}
	})
}
