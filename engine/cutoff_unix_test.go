//go:build unix

package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestCutOff blocks the connection between an owner and its PostgreSQL, and closes no connection. The owner's own clock
// makes it end its executing atoms, while it still hears nothing, and it undoes nothing. Another process resumes the
// run.
func TestCutOff(t *testing.T) {
	t.Parallel()
	direct := postgrestest.DSN(t)
	if _, err := sqlstore.Migrate(t.Context(), direct); err != nil {
		t.Fatal(err)
	}
	open := func(dsn string) *sqlstore.Store {
		store, err := sqlstore.Open(t.Context(), dsn, sqlstore.Lease(5*time.Second)) // a busy machine renews it, too
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	proxy, dsn := postgrestest.NewProxy(t, direct)
	undone := func(string) { t.Error("undone") }
	first := open(dsn)
	executes, told := make(chan struct{}), make(chan struct{})
	eng := newEngine(t, twoSteps(undone, func(ctx context.Context) error {
		close(executes)
		<-ctx.Done()
		close(told)
		return ctx.Err()
	}), engine.WithStore(first))
	ended := make(chan error, 1)
	go func() { _, err := eng.Run(context.WithoutCancel(t.Context()), "r"); ended <- err }()
	select {
	case <-executes:
	case err := <-ended:
		t.Fatalf("the run ended before it was cut off: %v", err)
	}
	proxy.Stick(true)
	<-told // without a message from the server
	proxy.Stick(false)
	var store *engine.StoreError
	if err := <-ended; !errors.As(err, &store) {
		t.Errorf("Run returned %v, want a store's error", err)
	}

	second := open(direct)
	other := newEngine(t, twoSteps(undone, func(context.Context) error { return nil }), engine.WithStore(second))
	for { // until the first process has released the run, or its lease has expired
		result, err := other.Run(t.Context(), "r")
		if err == nil {
			if result.Run.State != states.FlowSuccess {
				t.Errorf("the run ended %v", result.Run.State)
			}
			break
		}
		if !isOwned(err) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := errors.Join(second.Close(), first.Close()); err != nil {
		t.Error(err)
	}
}
