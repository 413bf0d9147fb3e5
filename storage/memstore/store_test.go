package memstore_test

import (
	"testing"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/storagetest"
	"github.com/ebbflow/ebb/storage/memstore"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, storagetest.Maker{
		Open: func(testing.TB) storage.Store { return memstore.New() },
		Join: func(_ testing.TB, s storage.Store) storage.Store { return s.(*memstore.Store).Join() },
		Die:  func(_ testing.TB, s storage.Store) { s.(*memstore.Store).Die() },
	})
}
