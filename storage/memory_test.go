package storage_test

import (
	"testing"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/storagetest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, storagetest.Maker{
		Open: func(testing.TB) storage.Store { return storage.Memory() },
		Join: func(_ testing.TB, s storage.Store) storage.Store { return s.(*storage.MemoryStore).Join() },
		Die:  func(_ testing.TB, s storage.Store) { s.(*storage.MemoryStore).Die() },
	})
}
