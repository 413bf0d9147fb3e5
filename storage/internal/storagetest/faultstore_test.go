package storagetest_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/storage/internal/storagetest"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestFaultyPasses runs the suite on a store without faults.
func TestFaultyPasses(t *testing.T) {
	t.Parallel()
	var within sync.Map
	open := func(m *memstore.Store) backend.Store {
		s := faultstore.New(m, func(faultstore.Call) faultstore.Fault { return faultstore.Fault{} })
		within.Store(s, m)
		return s
	}
	storagetest.Run(t, storagetest.Maker{
		Open: func(testing.TB) backend.Store { return open(memstore.New()) },
		Join: func(_ testing.TB, s backend.Store) backend.Store {
			m, _ := within.Load(s)
			return open(m.(*memstore.Store).Join())
		},
	})
}

// TestFaultyFails makes every call of every method fail.
func TestFaultyFails(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	s := faultstore.New(memstore.New(), func(c faultstore.Call) faultstore.Fault {
		seen[c.Method] = true
		return faultstore.Disk
	})
	for name, err := range storagetest.Calls(t.Context(), s, backend.Claim{Run: "a"}) {
		if !errors.Is(err, faultstore.ErrDisk) || !seen[name] {
			t.Errorf("%s: %v", name, err)
		}
	}
}
