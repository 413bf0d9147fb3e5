package sqlstore_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/storagetest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func open(tb testing.TB, path string, opts ...sqlstore.Option) *sqlstore.Store {
	tb.Helper()
	s, err := sqlstore.Open(context.Background(), "sqlite:"+path, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestStore runs the suite on a disk where syncs cost nothing. Other tests cover syncs.
func TestStore(t *testing.T) {
	t.Parallel()
	var paths sync.Map
	join := func(tb testing.TB, path string) backend.Store {
		tb.Helper()
		s := open(tb, path)
		paths.Store(s, path)
		return s
	}
	storagetest.Run(t, storagetest.Maker{
		Open: func(tb testing.TB) backend.Store { return join(tb, filepath.Join(crashdisk.Careless(tb), "runs.db")) },
		Join: func(tb testing.TB, s backend.Store) backend.Store {
			path, _ := paths.Load(s)
			return join(tb, path.(string))
		},
		Die: func(tb testing.TB, s backend.Store) {
			if err := sqlstore.Die(tb.Context(), s.(*sqlstore.Store)); err != nil {
				tb.Error(err)
			}
		},
	})
}

// TestVirtualTime uses the store within a bubble of synctest, as tests of flows
// do: waiting for hours takes no time.
func TestVirtualTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, filepath.Join(t.TempDir(), "runs.db"))
		if err := s.Create(t.Context(), storage.Run{ID: "a"}); err != nil {
			t.Fatal(err)
		}
		begun, changed := time.Now(), s.Changed()
		go func() {
			time.Sleep(10 * time.Minute)
			if err := s.Send(context.Background(), storage.Message{Run: "a"}); err != nil {
				t.Error(err)
			}
		}()
		<-changed
		if waited := time.Since(begun); waited != 10*time.Minute {
			t.Errorf("waited %v", waited)
		}
		if _, messages, err := s.Messages(t.Context(), "a", 0); err != nil || !messages[0].Sent.Equal(begun.Add(10*time.Minute)) {
			t.Errorf("messages %+v, %v", messages, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
