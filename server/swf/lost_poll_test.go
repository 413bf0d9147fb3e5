package swf_test

import (
	"net"
	"net/http"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/server/swf"
)

// A gone client has disconnected: it cannot be written to.
type gone struct{ http.Handler }

func (g gone) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.Handler.ServeHTTP(unwritable{w}, r)
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte(`{"__type": "gone"}`))
}

type unwritable struct{ http.ResponseWriter }

func (unwritable) WriteHeader(int)           {}
func (unwritable) Write([]byte) (int, error) { return 0, net.ErrClosed }

// TestUnansweredTask polls at a server that cannot read the history of the decision task that it has taken, or the
// secret for the token of the activity task, or cannot send the answer. The task times out at once, and the next poller
// gets a decision task.
func TestUnansweredTask(t *testing.T) {
	t.Parallel()
	decision := []string{"DecisionTaskStarted", "DecisionTaskTimedOut", "DecisionTaskScheduled", "DecisionTaskStarted"}
	activity := []string{"ActivityTaskStarted", "ActivityTaskTimedOut", "DecisionTaskScheduled", "DecisionTaskStarted"}
	for _, of := range []struct {
		operation, list string
		method          string // which fails; "" means that the client has gone
		nth             int
		fault           faultstore.Fault
		want            []string
	}{
		{"PollForDecisionTask", "l", "Events", 1, faultstore.Busy, decision},
		{"PollForDecisionTask", "l", "", 0, faultstore.Fault{}, decision},
		{"PollForActivityTask", "a", "NamedRecord", 2, faultstore.Disk, activity}, // the first is the domain
		{"PollForActivityTask", "a", "", 0, faultstore.Fault{}, activity},
	} {
		t.Run(of.operation+of.method, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, swf.Config{})
			w.types(t)
			w.start(t, "x", "taskStartToCloseTimeout", "NONE")
			if of.list == "a" {
				activity := schedule("a1")
				attributes := activity["scheduleActivityTaskDecisionAttributes"].(object)
				attributes["startToCloseTimeout"], attributes["scheduleToCloseTimeout"] = "NONE", "NONE"
				w.decide(t, activity)
			}
			_, handler, _, err := composed(swf.Config{Store: faultstore.New(w.store, faultstore.At(of.method, of.nth, of.fault))})
			if err != nil {
				t.Fatal(err)
			}
			if of.method == "" {
				handler = gone{handler}
			}
			poll := object{"domain": "d", "taskList": object{"name": of.list}}
			if a := (&world{handler: handler}).call(t, of.operation, poll); a.Code == "" {
				t.Fatalf("the poller got %v", a.Body)
			}
			var types []string
			events, _ := w.poll(t, "l")["events"].([]any)
			for _, e := range events {
				types = append(types, e.(object)["eventType"].(string))
			}
			if got := types[max(0, len(types)-len(of.want)):]; !slices.Equal(got, of.want) {
				t.Errorf("got %q at the end, want %q", types, of.want)
			}
		})
	}
}
