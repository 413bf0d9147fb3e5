package enginetest_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestLongWaits checks the documentation: a flow that waits for days takes no time in virtual time, and SQLite also
// works there.
func TestLongWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open func(t *testing.T) backend.Store
		wait time.Duration
	}{
		"memory": {func(*testing.T) backend.Store { return memstore.New() }, 24 * time.Hour},
		"sqlite": {func(t *testing.T) backend.Store {
			s, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "work.db"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, begin, tries := c.open(t), time.Now(), 0
				defer func() {
					if err := store.Close(); err != nil {
						t.Error(err)
					}
				}()
				answer := atom.Func("ask", func(context.Context, none) (string, error) {
					if tries++; tries < 4 {
						return "", errors.New("nobody is there")
					}
					return "yes", nil
				})
				asking := flow.Linear("asking", answer).WithRetry(atom.Times(10, atom.Constant(c.wait)))
				eng, err := engine.New(asking, store)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := eng.Run(t.Context(), "r"); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took < 3*c.wait || took > 4*c.wait {
					t.Errorf("three waits of %v took %v", c.wait, took)
				}
			})
		})
	}
}
