package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

const activity = "arn:aws:states:us-east-1:1:activity:review"

// review is a state machine whose work workers do. It is retried if a worker sends no heartbeat.
const review = `{"StartAt":"Review","States":{"Review":{"Type":"Task","Resource":"` + activity + `","HeartbeatSeconds":60,
	"Retry":[{"ErrorEquals":["States.HeartbeatTimeout"],"IntervalSeconds":1}],"End":true}}}`

// TestTakeWork lets workers of an activity do the work of a state machine. One dies, one takes long and sends
// heartbeats, one finds no work.
func TestTakeWork(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		m, err := asl.Parse("review", []byte(review))
		if err != nil {
			t.Fatal(err)
		}
		eng := newEngine(t, m.Flow(), opts...)
		store := eng.Store()
		worked := make(chan struct{})
		go func() {
			defer close(worked)
			twoWorkers(t, store)
		}()
		time.Sleep(time.Minute)
		res, err := eng.Run(t.Context(), "r", engine.Input(atom.MustEncode("in")))
		if err != nil || res.Output().String() != `"fine"` {
			t.Errorf("ended with %v, %v", res, err)
		}
		<-worked
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := engine.TakeWork(ctx, store, activity, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("there is work: %v", err)
		}
		want := []string{
			"ExecutionStarted", "TaskStateEntered", "ActivityScheduled", "ActivityStarted", "ActivityTimedOut",
			"ActivityScheduled", "ActivityStarted", "ActivitySucceeded", "TaskStateExited", "ExecutionSucceeded",
		}
		if diff := cmp.Diff(want, eventTypes(t, store, "r")); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// twoWorkers take the same work. One dies, the other takes long and sends heartbeats.
func twoWorkers(t *testing.T, store backend.Store) {
	t.Helper()
	first, err := engine.TakeWork(t.Context(), store, activity, "dies")
	if err != nil {
		t.Error(err)
		return
	}
	second, err := engine.TakeWork(t.Context(), store, activity, "works")
	if err != nil {
		t.Error(err)
		return
	}
	want := &engine.Work{Take: 1, Delivery: 1, Queue: activity, Run: "r", Path: "Review", Attempt: 2, Input: atom.MustEncode("in"), Heartbeat: time.Minute}
	got := *second
	got.Token = ""
	if diff := cmp.Diff(want, &got); diff != "" || second.Token == first.Token {
		t.Errorf("the work (-want +got):\n%s", diff)
	}
	for range 10 {
		time.Sleep(50 * time.Second)
		if _, err := store.Beat(t.Context(), second.Token); err != nil {
			t.Error(err)
		}
	}
	if _, err := store.EndToken(t.Context(), first.Token, storage.TokenEnd{Result: atom.Null}); !errors.Is(err, storage.ErrGone) {
		t.Errorf("the dead one's token still holds: %v", err)
	}
	if _, err := store.EndToken(t.Context(), second.Token, storage.TokenEnd{Result: atom.MustEncode("fine")}); err != nil {
		t.Error(err)
	}
}

func eventTypes(t *testing.T, store backend.Store, run string) []string {
	t.Helper()
	history, err := store.History(t.Context(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for i := range history {
		if history[i].Kind == storage.EntryEvent {
			types = append(types, history[i].Type)
		}
	}
	return types
}
