package inbox_test

import (
	"testing"
	"testing/synctest"

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
