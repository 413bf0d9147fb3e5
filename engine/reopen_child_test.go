package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A slowInbox is a store in which other goroutines do something before the messages of child runs are read.
type slowInbox struct{ backend.Store }

func (s slowInbox) Messages(ctx context.Context, run string, after int64) (int64, []storage.Message, error) {
	if strings.Contains(run, "/") {
		time.Sleep(time.Second) // virtual
	}
	return s.Store.Messages(ctx, run, after)
}

// TestReopenedChildTakesItsCommand reopens a run whose child run was cancelled. The child run takes the command to
// continue while the run looks whether it has: what the child run had said of its end before does not end it again.
func TestReopenedChildTakesItsCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, err := asl.Parse("m", []byte(`{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "F", "States": {"F": {"Type": "Task", "Resource": "do:f", "End": true}}},
			{"StartAt": "N", "States": {"N": {"Type": "Map", "ItemsPath": "$.list", "End": true, "ItemProcessor": {
				"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "H", "States": {
				"H": {"Type": "Task", "Resource": "do:h", "End": true}}}}}}]}}}`))
		if err != nil {
			t.Fatal(err)
		}
		s := &stage{do: script{
			"f": func(_ context.Context, n int) error {
				if time.Sleep(time.Minute); n == 1 {
					return atom.Errorf("Refused", "not now")
				}
				return nil
			},
			"h": func(ctx context.Context, n int) error {
				if n > 1 {
					time.Sleep(time.Hour)
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			},
		}}
		eng := newEngine(t, m.Flow(), engine.WithStore(slowInbox{memstore.New()}), engine.WithTasks(parts{s}),
			engine.WithCatalog(flows{"m": m.Flow()}))
		if _, err := eng.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{"list": [1]}`)))); err == nil {
			t.Fatal("it does not fail")
		}
		if err := endOthers(t.Context(), eng, "r"); err != nil {
			t.Fatal(err)
		}
		res, err := eng.Command(t.Context(), "r", engine.RetryFrom(""))
		if err != nil || res.Run.Outcome != storage.Succeeded {
			t.Errorf("it is %v, %v", res, err)
		}
	})
}
