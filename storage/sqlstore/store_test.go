package sqlstore_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
	"github.com/ebbflow/ebb/storage/storagetest"
)

func open(t testing.TB, path string, opts ...sqlstore.Option) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(context.Background(), "sqlite:"+path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	var paths sync.Map
	join := func(t testing.TB, path string) storage.Store {
		t.Helper()
		s := open(t, path)
		paths.Store(s, path)
		return s
	}
	storagetest.Run(t, storagetest.Maker{
		Open: func(t testing.TB) storage.Store { return join(t, filepath.Join(t.TempDir(), "runs.db")) },
		Join: func(t testing.TB, s storage.Store) storage.Store {
			path, _ := paths.Load(s)
			return join(t, path.(string))
		},
	})
}
