package swf_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/swf"
)

// Faults that operations share.
const (
	unknown      = "UnknownResourceFault"
	notPermitted = "OperationNotPermittedFault"
	overLimit    = "LimitExceededFault"
	invalid      = "ValidationException"
	throttled    = "ThrottlingException"
)

// faults has the faults of each operation, beside those that each operation has: OperationNotPermittedFault,
// ValidationException and ThrottlingException.
var faults = map[string][]string{
	"CountClosedWorkflowExecutions":  {unknown},
	"CountOpenWorkflowExecutions":    {unknown},
	"CountPendingActivityTasks":      {unknown},
	"CountPendingDecisionTasks":      {unknown},
	"DeleteActivityType":             {unknown, "TypeNotDeprecatedFault"},
	"DeleteWorkflowType":             {unknown, "TypeNotDeprecatedFault"},
	"DeprecateActivityType":          {unknown, "TypeDeprecatedFault"},
	"DeprecateDomain":                {unknown, "DomainDeprecatedFault"},
	"DeprecateWorkflowType":          {unknown, "TypeDeprecatedFault"},
	"DescribeActivityType":           {unknown},
	"DescribeDomain":                 {unknown},
	"DescribeWorkflowExecution":      {unknown},
	"DescribeWorkflowType":           {unknown},
	"GetWorkflowExecutionHistory":    {unknown},
	"ListActivityTypes":              {unknown},
	"ListClosedWorkflowExecutions":   {unknown},
	"ListDomains":                    {},
	"ListOpenWorkflowExecutions":     {unknown},
	"ListTagsForResource":            {unknown},
	"ListWorkflowTypes":              {unknown},
	"PollForActivityTask":            {unknown, overLimit},
	"PollForDecisionTask":            {unknown, overLimit},
	"RecordActivityTaskHeartbeat":    {unknown},
	"RegisterActivityType":           {unknown, "TypeAlreadyExistsFault", "DomainDeprecatedFault", overLimit},
	"RegisterDomain":                 {"DomainAlreadyExistsFault", overLimit, "TooManyTagsFault"},
	"RegisterWorkflowType":           {unknown, "TypeAlreadyExistsFault", "DomainDeprecatedFault", overLimit},
	"RequestCancelWorkflowExecution": {unknown},
	"RespondActivityTaskCanceled":    {unknown},
	"RespondActivityTaskCompleted":   {unknown},
	"RespondActivityTaskFailed":      {unknown},
	"RespondDecisionTaskCompleted":   {unknown},
	"SignalWorkflowExecution":        {unknown},
	"StartWorkflowExecution": {
		unknown, "TypeDeprecatedFault", "WorkflowExecutionAlreadyStartedFault", overLimit, "DefaultUndefinedFault",
		"DomainDeprecatedFault",
	},
	"TagResource":                {unknown, "TooManyTagsFault"},
	"TerminateWorkflowExecution": {unknown},
	"UndeprecateActivityType":    {unknown, "TypeAlreadyExistsFault"},
	"UndeprecateDomain":          {unknown, "DomainAlreadyExistsFault"},
	"UndeprecateWorkflowType":    {unknown, "TypeAlreadyExistsFault"},
	"UntagResource":              {unknown},
}

// requests returns a valid request of each operation, about the domain d, the type t and an execution x.
func requests(run, decisionToken, activityToken string) map[string]object {
	domain, named := object{"domain": "d"}, object{"name": "d"}
	arn := "arn:aws:swf:us-east-1:000000000000:/domain/d"
	with := func(of object, more ...any) object {
		of = maps.Clone(of)
		for i := 0; i < len(more); i += 2 {
			of[more[i].(string)] = more[i+1]
		}
		return of
	}
	since := object{"oldestDate": 0}
	list := with(domain, "taskList", object{"name": "none"})
	all := map[string]object{
		"CountClosedWorkflowExecutions":  with(domain, "startTimeFilter", since),
		"CountOpenWorkflowExecutions":    with(domain, "startTimeFilter", since),
		"CountPendingActivityTasks":      list,
		"CountPendingDecisionTasks":      list,
		"DeprecateDomain":                named,
		"DescribeDomain":                 named,
		"DescribeWorkflowExecution":      with(domain, "execution", ofX(run)),
		"GetWorkflowExecutionHistory":    with(domain, "execution", ofX(run)),
		"ListClosedWorkflowExecutions":   with(domain, "startTimeFilter", since),
		"ListDomains":                    {"registrationStatus": "REGISTERED"},
		"ListOpenWorkflowExecutions":     with(domain, "startTimeFilter", since),
		"ListTagsForResource":            {"resourceArn": arn},
		"PollForActivityTask":            list,
		"PollForDecisionTask":            list,
		"RegisterDomain":                 with(named, "workflowExecutionRetentionPeriodInDays", "1"),
		"RequestCancelWorkflowExecution": with(domain, "workflowId", "x"),
		"RespondDecisionTaskCompleted":   {"taskToken": decisionToken},
		"SignalWorkflowExecution":        with(domain, "workflowId", "x", "signalName", "s"),
		"StartWorkflowExecution":         with(domain, "workflowId", "x", "workflowType", typeOf("t", "1")),
		"TagResource":                    {"resourceArn": arn, "tags": []object{{"key": "k"}}},
		"TerminateWorkflowExecution":     with(domain, "workflowId", "x"),
		"UndeprecateDomain":              named,
		"UntagResource":                  {"resourceArn": arn, "tagKeys": []string{"k"}},
	}
	for _, kind := range []string{"Activity", "Workflow"} {
		one := with(domain, strings.ToLower(kind)+"Type", typeOf("t", "1"))
		for _, operation := range []string{"Delete", "Deprecate", "Describe", "Undeprecate"} {
			all[operation+kind+"Type"] = one
		}
		all["Register"+kind+"Type"] = with(domain, "name", "t", "version", "1")
		all["List"+kind+"Types"] = with(domain, "registrationStatus", "REGISTERED")
	}
	for _, operation := range []string{
		"RecordActivityTaskHeartbeat", "RespondActivityTaskCanceled", "RespondActivityTaskCompleted", "RespondActivityTaskFailed",
	} {
		all[operation] = object{"taskToken": activityToken}
	}
	return all
}

// begun starts an execution x with an activity, whose task a worker has, and a decision task that a decider has. It
// returns a request of each operation.
func begun(t *testing.T, w *world) map[string]object {
	t.Helper()
	w.types(t)
	run := w.start(t, "x")
	w.decide(t, schedule("a1"))
	activity := w.poll(t, "a")["taskToken"].(string)
	w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x", "signalName": "s"})
	return requests(run, w.poll(t, "l")["taskToken"].(string), activity)
}

// TestNobodyIsPermitted forbids everything in the domain d: each operation says so, also those that name it by a task
// or an ARN.
func TestNobodyIsPermitted(t *testing.T) {
	t.Parallel()
	permits := &permission{all: true}
	w := newWorld(t, swf.Config{Authorizer: permits})
	all := begun(t, w)
	permits.all = false
	for operation := range faults {
		w.refuses(t, operation, all[operation], notPermitted, "The caller is not authorized to perform "+operation)
		if want := "d"; operation != "ListDomains" && permits.domain != want {
			t.Errorf("%s is about the domain %q, want %q", operation, permits.domain, want)
		}
	}
}

// permission permits everything or nothing, and keeps the domain that was asked for last.
type permission struct {
	all    bool
	domain string
}

func (p *permission) Permits(_, _, domain string) bool {
	p.domain = domain
	return p.all
}

// TestUnknownResources asks a server that knows nothing of the domain, and then one that knows the domain alone. Tokens
// are of tasks that are over.
func TestUnknownResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	all := begun(t, w)
	w.must(t, "TerminateWorkflowExecution", all["TerminateWorkflowExecution"])
	for operation, params := range all {
		if !slices.Contains(faults[operation], unknown) {
			continue
		}
		params = maps.Clone(params)
		for _, member := range []string{"domain", "name"} {
			if _, has := params[member]; has {
				params[member] = "none"
				break
			}
		}
		if arn, has := params["resourceArn"].(string); has {
			params["resourceArn"] = strings.Replace(arn, "/d", "/none", 1) + "none"
		}
		w.refuses(t, operation, params, unknown, "")
	}
	for _, operation := range []string{"DescribeWorkflowExecution", "GetWorkflowExecutionHistory"} {
		w.refuses(t, operation, object{"domain": "d", "execution": ofX("none")}, unknown,
			"Unknown execution: WorkflowExecution=[workflowId=x, runId=none]")
	}
	w.refuses(t, "StartWorkflowExecution", object{"domain": "d", "workflowId": "y", "workflowType": typeOf("none", "1")}, unknown,
		"Unknown type: WorkflowType=[name=none, version=1]")
}

// TestInvalidRequests leaves out each required member of each operation.
func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.domain(t, "d")
	for operation, params := range requests("r", "t", "t") {
		for member := range params {
			params := maps.Clone(params)
			delete(params, member)
			a := w.call(t, operation, params)
			want := fmt.Sprintf("Value null at '%s' failed to satisfy constraint: Member must not be null", member)
			if strings.Contains(operation, "Closed") && member == "startTimeFilter" { // it may have closeTimeFilter instead
				want = "Must specify time filter"
			}
			if a.Code != invalid || !strings.Contains(a.Message, want) {
				t.Errorf("%s without %s: %s: %s", operation, member, a.Code, a.Message)
			}
		}
	}
}

// TestThrottleOfOperations lets a domain have no more requests: each operation about it is refused.
func TestThrottleOfOperations(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	all := begun(t, newWorld(t, swf.Config{Store: store}))
	w := newWorld(t, swf.Config{Store: store, Quotas: map[aws.Quota]int64{swf.QuotaRequests: 0}})
	for operation := range faults {
		if operation != "ListDomains" {
			w.refuses(t, operation, all[operation], throttled, "Rate exceeded")
		}
	}
}

// TestFaultsOfStart starts an execution where a default is missing, the type is deprecated, and the domain is.
func TestFaultsOfStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	w.must(t, "RegisterWorkflowType", object{"domain": "d", "name": "bare", "version": "1"})
	start := func(name string) object {
		return object{"domain": "d", "workflowId": "x", "workflowType": typeOf(name, "1")}
	}
	params := start("bare")
	for _, missing := range []struct {
		member string
		value  any
	}{
		{"executionStartToCloseTimeout", "60"},
		{"taskList", object{"name": "l"}},
		{"taskStartToCloseTimeout", "60"},
		{"childPolicy", "ABANDON"},
	} {
		w.refuses(t, "StartWorkflowExecution", params, "DefaultUndefinedFault", missing.member)
		params[missing.member] = missing.value
	}
	w.must(t, "StartWorkflowExecution", params)
	w.must(t, "DeprecateWorkflowType", object{"domain": "d", "workflowType": typeOf("t", "1")})
	w.refuses(t, "StartWorkflowExecution", start("t"), "TypeDeprecatedFault", "WorkflowType=[name=t, version=1]")
	w.must(t, "DeprecateDomain", object{"name": "d"})
	w.refuses(t, "StartWorkflowExecution", start("t"), "DomainDeprecatedFault", "d")
	w.refuses(t, "RegisterActivityType", object{"domain": "d", "name": "n", "version": "1"}, "DomainDeprecatedFault", "d")
}
