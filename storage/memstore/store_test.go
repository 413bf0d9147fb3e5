package memstore_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/internal/storagetest"
	"github.com/ebbflow/ebb/storage/memstore"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, storagetest.Maker{
		Open: func(testing.TB) backend.Store { return memstore.New() },
		Join: func(_ testing.TB, s backend.Store) backend.Store { return s.(*memstore.Store).Join() },
		Die:  func(_ testing.TB, s backend.Store) { s.(*memstore.Store).Die() },
	})
}
