package enginetest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/memstore"
)

// declined runs an order whose payment is tried twice and declined, and returns its store.
func declined(t *testing.T) backend.Store {
	t.Helper()
	s, store := newShop(t), memstore.New()
	charge := atom.Func("charge", func(context.Context, none) (none, error) {
		return none{}, atom.Errorf("Card.Declined", "there is no money on it")
	})
	paying := flow.Linear("paying", s.parcel("invoice"), charge).WithRetry(atom.Times(2, atom.Backoff{}))
	eng, err := engine.New(flow.Linear("order", s.reserve(), paying), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = eng.Run(t.Context(), "order-1"); err == nil {
		t.Fatal("the run succeeded")
	}
	return store
}

func TestTrace(t *testing.T) {
	t.Parallel()
	const want = `order PENDING -> RUNNING
reserve PENDING -> RUNNING
reserve RUNNING -> SUCCESS
paying_retry PENDING -> RUNNING
paying_retry RUNNING -> SUCCESS
invoice PENDING -> RUNNING
invoice RUNNING -> SUCCESS
charge PENDING -> RUNNING
charge RUNNING -> FAILURE  Card.Declined: there is no money on it
charge FAILURE -> REVERTING
charge REVERTING -> REVERTED
invoice SUCCESS -> REVERTING
invoice REVERTING -> REVERTED
paying_retry SUCCESS -> RETRYING
invoice@2 REVERTED -> PENDING
charge@2 REVERTED -> PENDING
paying_retry RETRYING -> RUNNING
paying_retry RUNNING -> SUCCESS
invoice@2 PENDING -> RUNNING
invoice@2 RUNNING -> SUCCESS
charge@2 PENDING -> RUNNING
charge@2 RUNNING -> FAILURE  Card.Declined: there is no money on it
charge@2 FAILURE -> REVERTING
charge@2 REVERTING -> REVERTED
invoice@2 SUCCESS -> REVERTING
invoice@2 REVERTING -> REVERTED
paying_retry SUCCESS -> REVERTING
paying_retry REVERTING -> REVERTED
reserve SUCCESS -> REVERTING
reserve REVERTING -> REVERTED
order RUNNING -> REVERTED
`
	got := enginetest.Trace(t, declined(t), "order-1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}

func TestUndone(t *testing.T) {
	t.Parallel()
	store := declined(t)
	enginetest.Undone(t, store, "order-1", "invoice", "invoice", "reserve")
	r := &reporter{}
	enginetest.Undone(r, store, "order-1", "reserve", "charge")
	want := "of run \"order-1\" were undone, in this order:\n    invoice, invoice, reserve\nand not:\n    reserve, charge" //nolint:dupword // two are undone
	if len(r.failures) != 1 || r.failures[0] != want {
		t.Errorf("said %q", r.failures)
	}
}

// TestNoSuchRun: a run that does not exist fails the test, and is not an empty answer.
func TestNoSuchRun(t *testing.T) {
	t.Parallel()
	r, store := &reporter{}, memstore.New()
	if got := enginetest.Trace(r, store, "r"); got != "" {
		t.Errorf("trace %q", got)
	}
	enginetest.Undone(r, store, "r")
	if len(r.failures) != 2 {
		t.Errorf("said %q", r.failures)
	}
}

// TestTasks runs a state machine with scripted tasks. The answers come in turn, and the calls are recorded.
func TestTasks(t *testing.T) {
	t.Parallel()
	tasks := new(enginetest.Tasks).
		On("exec:book", atom.Errorf("Busy", "try later"), map[string]any{"booking": 17}).
		On("exec:cancel").
		On("exec:pay", func(_ context.Context, in atom.Value) (any, error) {
			if _, ok := in.Field("booking"); !ok {
				return nil, errors.New("nothing was booked")
			}
			return nil, atom.Errorf("Declined", "no money")
		})
	trip := machine(`{"StartAt":"Book","States":{
		"Book":{"Type":"Task","Resource":"exec:book","Revert":"exec:cancel","Next":"Pay","Retry":[{"ErrorEquals":["Busy"],"IntervalSeconds":1,"MaxAttempts":3}]},
		"Pay":{"Type":"Task","Resource":"exec:pay","End":true}}}`)
	store := memstore.New()
	_, err := runInBubble(t, trip, store, engine.WithTasks(tasks))
	if _, ok := errors.AsType[*engine.RevertedError](err); !ok {
		t.Fatalf("the run ended with %v", err)
	}
	var got []string
	for _, call := range tasks.Calls() {
		got = append(got, call.Path+": "+call.String())
	}
	want := []string{
		"Book: exec:book {}", "Book: exec:book {}", `Pay: exec:pay {"booking":17}`,
		`Book: exec:cancel {"Input":{},"Result":{"booking":17},"Outcome":"Done"} (undoes what was done)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	enginetest.Undone(t, store, "r", "Book")
}

// TestNoSuchTask: the error names a task that the test did not script, and the tasks that it did.
func TestNoSuchTask(t *testing.T) {
	t.Parallel()
	_, err := new(enginetest.Tasks).On("pay").On("book").Task("boat")
	if want := `enginetest: no answer is scripted for task "boat"; there are some for: book, pay`; err == nil ||
		err.Error() != want {
		t.Errorf("%v", err)
	}
	if _, err := new(enginetest.Tasks).Task("pay"); err == nil {
		t.Error("there is a task though nothing was scripted")
	}
}
