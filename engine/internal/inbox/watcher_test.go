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
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A listener counts the notifications that reach a driver of a run.
type listener struct{ told int }

func (l *listener) Notify() { l.told++ }
func (*listener) Doubt()    {}
func (*listener) Wake()     {}

// TestSecondDriverStays lets two drivers of one process join for a run. Whichever leaves first, the other is still
// notified, and both can leave.
//
// Guarantee (Jobs): A driver that leaves a run stops no messages to the other one of its process, whichever of them has
// the run.
func TestSecondDriverStays(t *testing.T) {
	t.Parallel()
	for leaves := range 2 {
		synctest.Test(t, func(t *testing.T) {
			store := memstore.New()
			if err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "f"}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := store.Begin(t.Context(), "r"); err != nil { // messages reach the owner of a run only
				t.Fatal(err)
			}
			w := &inbox.Watcher{Store: store, Log: hclog.NewNullLogger()}
			drivers := [2]listener{}
			w.Join("r", &drivers[0], w.Mark())
			synctest.Wait()
			w.Join("r", &drivers[1], w.Mark())
			w.Leave("r", &drivers[leaves])
			if err := store.Send(t.Context(), storage.Message{Run: "r", Kind: "signal", Name: "go"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if drivers[leaves].told != 0 || drivers[1-leaves].told != 1 {
				t.Errorf("driver %d left; they were notified %v times", leaves, drivers)
			}
			w.Leave("r", &drivers[1-leaves])
			w.Join("r", &drivers[0], w.Mark()) // the watcher works again
			w.Leave("r", &drivers[0])
		})
	}
}

// A brokenStore does not say which runs have messages.
type brokenStore struct{ backend.Store }

func (brokenStore) RunsWithMessages(context.Context, int64) ([]backend.Arrival, int64, error) {
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
