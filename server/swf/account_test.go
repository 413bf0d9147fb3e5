package swf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/swf"
)

// TestAnyAccount gives three clients a domain and an execution of the same names, each in an account or a region of its
// own. None sees those of another. A reset of one account leaves the others.
func TestAnyAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	clients := []*world{w.as("test", "us-east-1"), w.as("222222222222", "us-east-1"), w.as("222222222222", "eu-west-1")}
	where := []string{"us-east-1:000000000000", "us-east-1:222222222222", "eu-west-1:222222222222"}
	open := func(c *world, domain string) object {
		return c.must(t, "CountOpenWorkflowExecutions", object{"domain": domain, "startTimeFilter": object{"oldestDate": 1}})
	}
	for i, c := range clients {
		c.refuses(t, "DescribeDomain", object{"name": "shop"}, "UnknownResourceFault", "Unknown domain: shop")
		c.must(t, "RegisterDomain", object{"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"})
		c.refuses(t, "RegisterDomain", object{"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"}, "DomainAlreadyExistsFault", "shop")
		c.must(t, "RegisterWorkflowType", object{
			"domain": "shop", "name": "order", "version": "1", "defaultTaskList": object{"name": "order"}, "defaultTaskStartToCloseTimeout": "60",
			"defaultExecutionStartToCloseTimeout": "300", "defaultChildPolicy": "TERMINATE",
		})
		start := object{"domain": "shop", "workflowId": "17", "workflowType": typeOf("order", "1"), "input": fmt.Sprint(i)}
		c.must(t, "StartWorkflowExecution", start)
		c.refuses(t, "StartWorkflowExecution", start, "WorkflowExecutionAlreadyStartedFault", "")
	}
	for i, c := range clients {
		arn := "arn:aws:swf:" + where[i] + ":/domain/shop"
		if told := fmt.Sprint(c.must(t, "ListDomains", object{"registrationStatus": "REGISTERED"})); strings.Count(told, "shop") != 2 || !strings.Contains(told, arn) {
			t.Errorf("client %d has %s", i, told)
		}
		c.must(t, "TagResource", object{"resourceArn": arn, "tags": []object{{"key": "a", "value": "b"}}})
		clients[(i+1)%len(clients)].refuses(t, "ListTagsForResource", object{"resourceArn": arn}, "UnknownResourceFault", "")
		if told := fmt.Sprint(open(c, "shop")); !strings.Contains(told, "count:1") {
			t.Errorf("client %d: %s", i, told)
		}
		task := fmt.Sprint(c.must(t, "PollForDecisionTask", object{"domain": "shop", "taskList": object{"name": "order"}}))
		if !strings.Contains(task, fmt.Sprintf("input:%d", i)) {
			t.Errorf("client %d got the task %s", i, task)
		}
	}
	if n, err := w.api.Reset(t.Context(), "222222222222"); n != 2 || err != nil {
		t.Errorf("%d executions were there, %v", n, err)
	}
	for i, c := range clients {
		if known := c.call(t, "DescribeDomain", object{"name": "shop"}).Code == ""; known != (i == 0) {
			t.Errorf("client %d has its domain: %v", i, known)
		}
	}
	open(clients[0], "shop")
}
