package swf_test

import (
	"slices"
	"testing"

	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/server/swf"
)

// TestUnansweredTask polls at a server that cannot read the history of the decision task that it has taken, or the
// secret for the token of the activity task. The task times out at once, and the next poller gets a decision task.
func TestUnansweredTask(t *testing.T) {
	t.Parallel()
	for list, of := range map[string]struct {
		operation string
		fault     faultstore.Plan
		want      []string
	}{
		"l": {"PollForDecisionTask", faultstore.At("Events", 1, faultstore.Busy), []string{
			"DecisionTaskStarted", "DecisionTaskTimedOut", "DecisionTaskScheduled", "DecisionTaskStarted",
		}},
		"a": {"PollForActivityTask", faultstore.At("NamedRecord", 2, faultstore.Disk), []string{ // the first is the domain
			"ActivityTaskStarted", "ActivityTaskTimedOut", "DecisionTaskScheduled", "DecisionTaskStarted",
		}},
	} {
		t.Run(of.operation, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, swf.Config{})
			w.types(t)
			w.start(t, "x", "taskStartToCloseTimeout", "NONE")
			if list == "a" {
				activity := schedule("a1")
				attributes := activity["scheduleActivityTaskDecisionAttributes"].(object)
				attributes["startToCloseTimeout"], attributes["scheduleToCloseTimeout"] = "NONE", "NONE"
				w.decide(t, activity)
			}
			_, handler, _, err := composed(swf.Config{Store: faultstore.New(w.store, of.fault)})
			if err != nil {
				t.Fatal(err)
			}
			poll := object{"domain": "d", "taskList": object{"name": list}}
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
