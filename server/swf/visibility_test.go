package swf_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/server/swf"
)

// TestVisibility lists and counts executions by each filter, in pages and in both orders.
func TestVisibility(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, swf.Config{})
		w.types(t)
		w.domain(t, "other")
		w.must(t, "RegisterWorkflowType", object{"domain": "d", "name": "t", "version": "2"})
		begun := float64(time.Now().UnixMilli()) / 1000
		for _, id := range []string{"a", "b", "c", "d"} {
			w.start(t, id, "tagList", []string{"all", "only " + id})
			time.Sleep(time.Second)
		}
		w.must(t, "TerminateWorkflowExecution", object{"domain": "d", "workflowId": "c"})
		time.Sleep(time.Second)
		w.must(t, "TerminateWorkflowExecution", object{"domain": "d", "workflowId": "b"})
		always := object{"oldestDate": 0}
		id := func(info object) string { return info["execution"].(object)["workflowId"].(string) }
		for _, c := range []struct {
			kind, want string
			filter     object
		}{
			{"Open", "da", object{"startTimeFilter": always}},
			{"Open", "ad", object{"startTimeFilter": always, "reverseOrder": true}},
			{"Open", "a", object{"startTimeFilter": object{"oldestDate": begun, "latestDate": begun}}},
			{"Open", "d", object{"startTimeFilter": object{"oldestDate": begun + 0.001}}},
			{"Open", "a", object{"startTimeFilter": always, "executionFilter": object{"workflowId": "a"}}},
			{"Open", "da", object{"startTimeFilter": always, "tagFilter": object{"tag": "all"}}},
			{"Open", "d", object{"startTimeFilter": always, "tagFilter": object{"tag": "only d"}}},
			{"Open", "da", object{"startTimeFilter": always, "typeFilter": object{"name": "t"}}},
			{"Open", "da", object{"startTimeFilter": always, "typeFilter": object{"name": "t", "version": "1"}}},
			{"Open", "", object{"startTimeFilter": always, "typeFilter": object{"name": "t", "version": "2"}}},
			{"Closed", "cb", object{"startTimeFilter": always}},
			{"Closed", "bc", object{"closeTimeFilter": always}},
			{"Closed", "cb", object{"closeTimeFilter": always, "reverseOrder": true}},
			{"Closed", "bc", object{"closeTimeFilter": always, "closeStatusFilter": object{"status": "TERMINATED"}}},
			{"Closed", "", object{"closeTimeFilter": always, "closeStatusFilter": object{"status": "CANCELED"}}},
			{"Closed", "b", object{"closeTimeFilter": always, "executionFilter": object{"workflowId": "b"}}},
			{"Closed", "c", object{"closeTimeFilter": always, "tagFilter": object{"tag": "only c"}}},
		} {
			c.filter["domain"] = "d"
			reverse := c.filter["reverseOrder"]
			delete(c.filter, "reverseOrder")
			if count := w.must(t, "Count"+c.kind+"WorkflowExecutions", c.filter); count["count"] != float64(len(c.want)) || count["truncated"] != false {
				t.Errorf("%s %v: %v", c.kind, c.filter, count)
			}
			c.filter["maximumPageSize"] = 1
			if reverse != nil {
				c.filter["reverseOrder"] = reverse
			}
			got, pages := w.names(t, "List"+c.kind+"WorkflowExecutions", c.filter, id)
			if strings.Join(got, "") != c.want || pages != max(len(c.want), 1) {
				t.Errorf("%s %v: got %v in %d pages, want %s", c.kind, c.filter, got, pages, c.want)
			}
		}
		for _, bad := range []struct {
			kind   string
			filter object
		}{
			{"Open", object{"domain": "d"}},
			{"Open", object{"domain": "d", "startTimeFilter": always, "tagFilter": object{"tag": "x"}, "executionFilter": object{"workflowId": "x"}}},
			{"Closed", object{"domain": "d"}},
			{"Closed", object{"domain": "d", "startTimeFilter": always, "closeTimeFilter": always}},
			{"Closed", object{"domain": "d", "startTimeFilter": always, "closeStatusFilter": object{"status": "FAILED"}, "typeFilter": object{"name": "x"}}},
		} {
			w.refuses(t, "List"+bad.kind+"WorkflowExecutions", bad.filter, "ValidationException", "")
			w.refuses(t, "Count"+bad.kind+"WorkflowExecutions", bad.filter, "ValidationException", "")
		}
		w.refuses(t, "ListOpenWorkflowExecutions", object{"domain": "no", "startTimeFilter": always}, "UnknownResourceFault", "")
		if got := w.must(t, "CountOpenWorkflowExecutions", object{"domain": "other", "startTimeFilter": always})["count"]; got != 0.0 {
			t.Errorf("another domain has %v executions", got)
		}
	})
}
