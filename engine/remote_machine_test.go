package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

const remoteMachine = `{"StartAt":"Book","States":{
	"Book":{"Type":"Task","Resource":"worker:book","Revert":{"Resource":"worker:unbook"},"Next":"Pay"},
	"Pay":{"Type":"Task","Resource":"worker:pay","TimeoutSeconds":60,"Retry":[{"ErrorEquals":["Busy"],"IntervalSeconds":1}],"End":true}}}`

// TestRemoteMachine: the resources of a machine may be work for workers. It is retried and undone like other tasks,
// also if no process has the run in memory meanwhile.
func TestRemoteMachine(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		m, err := asl.Parse("trip", []byte(remoteMachine))
		if err != nil {
			t.Fatal(err)
		}
		eng := newEngine(t, m.Flow(), append(opts, engine.WithTasks(registry{}))...)
		store := eng.Store()
		if err := eng.Start(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{"to":"Rome"}`)))); err != nil {
			t.Fatal(err)
		}
		serving, stop := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- eng.Serve(serving) }()
		finish(t, store, take(t, store, "worker:book"), map[string]int{"seat": 7})
		pay := take(t, store, "worker:pay")
		if pay.Input.String() != `{"seat":7}` || pay.Undoes != nil {
			t.Errorf("to pay: %+v", pay)
		}
		if _, err := store.EndToken(t.Context(), pay.Token, storage.TokenEnd{Take: pay.Take, Failure: &atom.Failure{Code: "Busy"}}); err != nil {
			t.Error(err)
		}
		again := take(t, store, "worker:pay")
		if again.Attempt != 2 || again.Token == pay.Token || again.Key() != pay.Key() {
			t.Errorf("to pay again: %+v", again)
		}
		undo := take(t, store, "worker:unbook") // once the time limit of Pay has passed
		if undo.Input.String() != `{"input":{"to":"Rome"},"output":{"seat":7}}` && undo.Undoes == nil {
			t.Errorf("to undo: %+v with %s", undo, undo.Input)
		}
		if _, err := store.EndToken(t.Context(), again.Token, storage.TokenEnd{Take: again.Take}); !errors.Is(err, storage.ErrGone) {
			t.Errorf("it was paid too late: %v", err)
		}
		finish(t, store, undo, nil)
		for {
			run, err := store.Run(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			if run.State == states.FlowReverted {
				break
			}
			time.Sleep(time.Second)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// TestRemoteActivity: the work of an activity is leased like other work. Its own heartbeat limit holds beside the
// lease.
func TestRemoteActivity(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		m, err := asl.Parse("review", []byte(review))
		if err != nil {
			t.Fatal(err)
		}
		eng := newEngine(t, m.Flow(), opts...)
		store := eng.Store()
		go func() {
			first := take(t, store, activity)
			second := take(t, store, activity) // a minute later, the lease and the heartbeat limit have expired
			if second.Key() != first.Key() || second.Attempt != 2 && second.Take != 2 {
				t.Errorf("it was given %+v", second)
			}
			for {
				if _, err := store.EndToken(t.Context(), second.Token, storage.TokenEnd{Take: second.Take, Result: atom.MustEncode("fine")}); err == nil {
					return
				}
				second = take(t, store, activity)
			}
		}()
		res, err := eng.Run(t.Context(), "r", engine.Input(atom.MustEncode("in")), engine.Trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
		if err != nil || res.Output().String() != `"fine"` {
			t.Errorf("ended with %v, %v", res, err)
		}
	})
}

// TestRemoteSM4C: functions in SM4C may be work for workers, and workers undo them.
func TestRemoteSM4C(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		m, err := sm4c.Parse("trip.json", []byte(`{"name": "trip", "version": "1.0",
			"functions": [
				{"name": "book", "type": "task", "operation": "worker:book"},
				{"name": "unbook", "type": "task", "operation": "worker:unbook"},
				{"name": "pay", "type": "task", "operation": "worker:pay"}],
			"states": [
				{"name": "Book", "start": true, "transitions": [{"nextState": "Pay"}],
					"enterAction": {"type": "invokeFunction", "functionName": "book", "waitForCompletion": true, "arguments": {"to": "Rome"},
						"revert": {"functionName": "unbook", "arguments": {"seat": "${ $value.seat }"}}}},
				{"name": "Pay", "enterAction": {"type": "invokeFunction", "functionName": "pay", "waitForCompletion": true}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		eng := newEngine(t, m.Flow(), append(opts, engine.WithTasks(registry{}))...)
		store := eng.Store()
		ended := make(chan error)
		go func() {
			_, err := eng.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{}`))))
			ended <- err
		}()
		book := take(t, store, "worker:book")
		finish(t, store, book, reservation{"7a"})
		pay := take(t, store, "worker:pay")
		if _, err := store.EndToken(t.Context(), pay.Token, storage.TokenEnd{Take: pay.Take, Failure: &atom.Failure{Code: "NoMoney"}}); err != nil {
			t.Error(err)
		}
		undo := take(t, store, "worker:unbook")
		if book.Input.String() != `{"to":"Rome"}` || undo.Input.String() != `{"seat":"7a"}` || undo.Undoes == nil {
			t.Errorf("to book: %s, to undo: %+v with %s", book.Input, undo, undo.Input)
		}
		finish(t, store, undo, nil)
		reverted(t, <-ended)
	})
}
