package swf_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/swf"
)

// TestOperations wants all operations of the API.
func TestOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	const all = 39
	if n := len(w.api.Service(nil).Operations); n != all {
		t.Errorf("%d operations, want %d", n, all)
	}
	w.refuses(t, "NoSuchOperation", object{}, "UnknownOperationException", "")
	w.refuses(t, "DescribeDomain", `["name"]`, "SerializationException", "")
	w.refuses(t, "DescribeDomain", `{"name": 1}`, "SerializationException", "")
}

// TestFaults wants the prefixes and messages of AWS.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	a := w.call(t, "DescribeDomain", object{"name": "no"})
	if a.Type != "com.amazonaws.swf.base.model#UnknownResourceFault" || a.Message != "Unknown domain: no" {
		t.Errorf("got %s: %s", a.Type, a.Message)
	}
	a = w.call(t, "RegisterDomain", object{"name": "arn", "description": strings.Repeat("é", 1025)})
	want := "3 validation errors detected: Value 'arn' at 'name' failed to satisfy constraint: Member must not contain a colon, " +
		"slash, vertical bar or control character, begin or end with a blank, or be arn; "
	if a.Type != "com.amazon.coral.validate#ValidationException" || !strings.HasPrefix(a.Message, "3 validation errors detected: ") ||
		!strings.Contains(a.Message, strings.TrimPrefix(want, "3 validation errors detected: ")) {
		t.Errorf("got %s: %s", a.Type, a.Message)
	}
	w.domain(t, "d")
	w.must(t, "RegisterDomain", object{"name": "e", "workflowExecutionRetentionPeriodInDays": "NONE", "description": strings.Repeat("é", 1024)})
	w.refuses(t, "DescribeWorkflowType", object{"domain": "d", "workflowType": typeOf("n", "v")}, "UnknownResourceFault",
		"Unknown type: WorkflowType=[name=n, version=v]")
	w.refuses(t, "DescribeActivityType", object{"domain": "d", "activityType": typeOf("n", "v")}, "UnknownResourceFault",
		"Unknown type: ActivityType=[name=n, version=v]")
	for _, bad := range []string{"91", "-1", "1.5", "", "none", "99999999"} {
		w.refuses(t, "RegisterDomain", object{"name": "f", "workflowExecutionRetentionPeriodInDays": bad}, "ValidationException", "")
	}
	for member, bad := range map[string]string{
		"defaultTaskStartToCloseTimeout": "31536001", "defaultExecutionStartToCloseTimeout": "NONE", "defaultTaskPriority": "2147483648",
		"defaultChildPolicy": "NO", "description": strings.Repeat("x", 1025),
	} {
		w.refuses(t, "RegisterWorkflowType", object{"domain": "d", "name": "n", "version": "1", member: bad}, "ValidationException", "")
	}
	for _, bad := range []string{"a:b", "a/b", "a|b", "a\x7fb", "arn", " a", "a "} {
		w.refuses(t, "RegisterActivityType", object{"domain": "d", "name": bad, "version": "1"}, "ValidationException", "")
		w.refuses(t, "RegisterActivityType", object{"domain": "d", "name": "n", "version": bad}, "ValidationException", "")
	}
}

// TestDomain registers, deprecates and describes a domain.
func TestDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	params := object{"name": "d", "workflowExecutionRetentionPeriodInDays": "7", "description": "of tests", "unknown": 1}
	w.must(t, "RegisterDomain", params)
	got := w.must(t, "DescribeDomain", object{"name": "d"})
	want := object{
		"domainInfo": object{
			"name": "d", "status": "REGISTERED", "description": "of tests", "arn": "arn:aws:swf:us-east-1:000000000000:/domain/d",
		},
		"configuration": object{"workflowExecutionRetentionPeriodInDays": "7"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	w.refuses(t, "RegisterDomain", params, "DomainAlreadyExistsFault", "")
	w.refuses(t, "UndeprecateDomain", object{"name": "d"}, "DomainAlreadyExistsFault", "")
	w.must(t, "DeprecateDomain", object{"name": "d"})
	w.refuses(t, "DeprecateDomain", object{"name": "d"}, "DomainDeprecatedFault", "")
	w.refuses(t, "RegisterDomain", params, "DomainAlreadyExistsFault", "")
	w.must(t, "UndeprecateDomain", object{"name": "d"})
	for _, operation := range []string{"DescribeDomain", "DeprecateDomain", "UndeprecateDomain"} {
		w.refuses(t, operation, object{"name": "no"}, "UnknownResourceFault", "Unknown domain: no")
	}
}

// TestDeprecatedDomain deprecates a domain with its types, which stay deprecated until each is registered again.
func TestDeprecatedDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.domain(t, "d")
	w.must(t, "RegisterWorkflowType", object{"domain": "d", "name": "old", "version": "1"})
	w.must(t, "DeprecateDomain", object{"name": "d"})
	w.must(t, "TagResource", object{"resourceArn": "arn:aws:swf:us-east-1:000000000000:/domain/d", "tags": []object{{"key": "k"}}})
	status := func(name string) any {
		t.Helper()
		out := w.must(t, "DescribeWorkflowType", object{"domain": "d", "workflowType": typeOf(name, "1")})
		info := out["typeInfo"].(object)
		if (info["status"] == "DEPRECATED") != (info["deprecationDate"] != nil) {
			t.Errorf("%v", info)
		}
		return info["status"]
	}
	if got := status("old"); got != "DEPRECATED" {
		t.Errorf("a type of a deprecated domain is %v", got)
	}
	w.refuses(t, "RegisterWorkflowType", object{"domain": "d", "name": "new", "version": "1"}, "DomainDeprecatedFault", "d")
	w.must(t, "UndeprecateDomain", object{"name": "d"})
	w.must(t, "RegisterWorkflowType", object{"domain": "d", "name": "new", "version": "1"})
	if old, young := status("old"), status("new"); old != "DEPRECATED" || young != "REGISTERED" {
		t.Errorf("after UndeprecateDomain, the types are %v and %v", old, young)
	}
	w.must(t, "UndeprecateWorkflowType", object{"domain": "d", "workflowType": typeOf("old", "1")})
	if got := status("old"); got != "REGISTERED" {
		t.Errorf("after UndeprecateWorkflowType, the type is %v", got)
	}
}

// names returns the members of a list of one operation, over all its pages.
func (w *world) names(t *testing.T, operation string, params object, of func(object) string) (names []string, pages int) {
	t.Helper()
	for {
		out := w.must(t, operation, params)
		pages++
		for _, key := range []string{"domainInfos", "typeInfos", "executionInfos"} {
			infos, _ := out[key].([]any)
			for _, info := range infos {
				names = append(names, of(info.(object)))
			}
		}
		if out["nextPageToken"] == nil {
			return names, pages
		}
		params["nextPageToken"] = out["nextPageToken"]
	}
}

// TestListDomains lists domains in pages, in both orders.
func TestListDomains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	for _, name := range []string{"b", "d", "a", "c", "e"} {
		w.domain(t, name)
	}
	w.must(t, "DeprecateDomain", object{"name": "c"})
	of := func(info object) string { return info["name"].(string) }
	got, pages := w.names(t, "ListDomains", object{"registrationStatus": "REGISTERED", "maximumPageSize": 2}, of)
	if strings.Join(got, "") != "abde" || pages != 2 {
		t.Errorf("got %v in %d pages", got, pages)
	}
	got, _ = w.names(t, "ListDomains", object{"registrationStatus": "REGISTERED", "reverseOrder": true, "maximumPageSize": 1}, of)
	if strings.Join(got, "") != "edba" {
		t.Errorf("in reverse order: %v", got)
	}
	if got, _ = w.names(t, "ListDomains", object{"registrationStatus": "DEPRECATED"}, of); strings.Join(got, "") != "c" {
		t.Errorf("deprecated: %v", got)
	}
	token := w.must(t, "ListDomains", object{"registrationStatus": "REGISTERED", "maximumPageSize": 2})["nextPageToken"]
	w.refuses(t, "ListDomains", object{"registrationStatus": "DEPRECATED", "maximumPageSize": 2, "nextPageToken": token},
		"ValidationException", "Invalid token")
	w.refuses(t, "ListDomains", object{"registrationStatus": "REGISTERED", "nextPageToken": "x"}, "ValidationException", "Invalid token")
	w.refuses(t, "ListDomains", object{"registrationStatus": "REGISTERED", "maximumPageSize": 1001}, "ValidationException", "")
}

// TestListTypes lists types by name and then by version, for any characters that follow the name.
func TestListTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.domain(t, "d")
	w.domain(t, "d2")
	w.must(t, "RegisterActivityType", object{"domain": "d2", "name": "other", "version": "1"})
	long := strings.Repeat("ü", 256)
	for _, kind := range []string{"Activity", "Workflow"} {
		for _, of := range [][2]string{{"b", "2"}, {"b", "1"}, {"b-", "1"}, {"a", "1"}, {long, long[:128]}} {
			w.must(t, "Register"+kind+"Type", object{"domain": "d", "name": of[0], "version": of[1]})
		}
		member := strings.ToLower(kind) + "Type"
		of := func(info object) string {
			is := info[member].(object)
			return is["name"].(string)[:1] + is["version"].(string)[:1]
		}
		got, pages := w.names(t, "List"+kind+"Types", object{"domain": "d", "registrationStatus": "REGISTERED", "maximumPageSize": 2}, of)
		if want := []string{"a1", "b1", "b2", "b1", "\xc3\xc3"}; !slices.Equal(got, want) || pages != 3 {
			t.Errorf("%s: got %q in %d pages", kind, got, pages)
		}
		got, _ = w.names(t, "List"+kind+"Types", object{"domain": "d", "registrationStatus": "REGISTERED", "name": "b", "reverseOrder": true}, of)
		if want := []string{"b2", "b1"}; !slices.Equal(got, want) {
			t.Errorf("%s: by name: got %q", kind, got)
		}
	}
}

// TestTypes registers, deprecates and deletes types.
func TestTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.domain(t, "d")
	for _, kind := range []string{"Activity", "Workflow"} {
		params := object{"domain": "d", "name": "n", "version": "1", "defaultTaskList": object{"name": "l"}, "defaultTaskPriority": "-5"}
		one := object{"domain": "d", strings.ToLower(kind) + "Type": typeOf("n", "1")}
		w.refuses(t, "Register"+kind+"Type", object{"domain": "no", "name": "n", "version": "1"}, "UnknownResourceFault", "Unknown domain: no")
		w.must(t, "Register"+kind+"Type", params)
		w.refuses(t, "Register"+kind+"Type", params, "TypeAlreadyExistsFault", kind+"Type=[name=n, version=1]")
		w.refuses(t, "Undeprecate"+kind+"Type", one, "TypeAlreadyExistsFault", "")
		w.refuses(t, "Delete"+kind+"Type", one, "TypeNotDeprecatedFault",
			"The type is currently registered and cannot be deleted in its current state")
		out := w.must(t, "Describe"+kind+"Type", one)
		if want := "map[defaultTaskList:map[name:l] defaultTaskPriority:-5]"; fmt.Sprint(out["configuration"]) != want {
			t.Errorf("%s: %v, want %s", kind, out["configuration"], want)
		}
		w.must(t, "Deprecate"+kind+"Type", one)
		w.refuses(t, "Deprecate"+kind+"Type", one, "TypeDeprecatedFault", "")
		w.refuses(t, "Register"+kind+"Type", params, "TypeAlreadyExistsFault", "")
		w.must(t, "Delete"+kind+"Type", one)
		for _, operation := range []string{"Describe", "Delete", "Deprecate", "Undeprecate"} {
			w.refuses(t, operation+kind+"Type", one, "UnknownResourceFault", "")
		}
		w.must(t, "Register"+kind+"Type", params)
	}
}

// TestTags tags a domain.
func TestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{Quotas: map[aws.Quota]int64{swf.QuotaDomainTags: 2}})
	w.must(t, "RegisterDomain", object{
		"name": "d", "workflowExecutionRetentionPeriodInDays": "0", "tags": []object{{"key": "a", "value": "1"}},
	})
	arn := w.must(t, "DescribeDomain", object{"name": "d"})["domainInfo"].(object)["arn"]
	w.must(t, "TagResource", object{"resourceArn": arn, "tags": []object{{"key": "a", "value": "2"}, {"key": "b", "value": "3"}}})
	w.refuses(t, "TagResource", object{"resourceArn": arn, "tags": []object{{"key": "c", "value": ""}}}, "TooManyTagsFault", "")
	w.refuses(t, "RegisterDomain", object{
		"name": "e", "workflowExecutionRetentionPeriodInDays": "0", "tags": []object{{"key": "a"}, {"key": "b"}, {"key": "c"}},
	}, "TooManyTagsFault", "")
	w.must(t, "UntagResource", object{"resourceArn": arn, "tagKeys": []string{"b", "no"}})
	got := w.must(t, "ListTagsForResource", object{"resourceArn": arn})
	if want := "map[tags:[map[key:a value:2]]]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	for _, bad := range []string{"arn:aws:swf:us-east-1:000000000000:/domain/no", "arn:aws:swf:eu-west-1:000000000000:/domain/d", "d"} {
		w.refuses(t, "ListTagsForResource", object{"resourceArn": bad}, "UnknownResourceFault", "")
	}
}

// TestQuotas creates one more than each quota allows.
func TestQuotas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{Quotas: map[aws.Quota]int64{
		swf.QuotaDomains: 1, swf.QuotaWorkflowTypes: 1, swf.QuotaActivityTypes: 1, swf.QuotaRetention: aws.NoQuota,
	}})
	w.must(t, "RegisterDomain", object{"name": "d", "workflowExecutionRetentionPeriodInDays": "400"})
	w.refuses(t, "RegisterDomain", object{"name": "e", "workflowExecutionRetentionPeriodInDays": "1"}, "LimitExceededFault", "")
	for _, operation := range []string{"RegisterWorkflowType", "RegisterActivityType"} {
		w.must(t, operation, object{"domain": "d", "name": "n", "version": "1"})
		w.refuses(t, operation, object{"domain": "d", "name": "n", "version": "2"}, "LimitExceededFault", "")
	}
	if _, err := swf.New(swf.Config{Store: w.store, Quotas: map[aws.Quota]int64{"x": 1}}); err == nil {
		t.Error("a quota that does not exist is accepted")
	}
}

// only permits one operation.
type only string

func (o only) Permits(_, operation, domain string) bool {
	return operation == string(o) || domain == "mine"
}

// TestAuthorizer wants OperationNotPermittedFault for what the authorizer does not permit.
func TestAuthorizer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{Authorizer: only("ListDomains")})
	w.must(t, "ListDomains", object{"registrationStatus": "REGISTERED"})
	w.domain(t, "mine")
	w.refuses(t, "RegisterDomain", object{"name": "d", "workflowExecutionRetentionPeriodInDays": "1"}, "OperationNotPermittedFault", "")
	w.refuses(t, "RegisterActivityType", object{"domain": "d", "name": "n", "version": "1"}, "OperationNotPermittedFault", "")
	w.must(t, "RegisterActivityType", object{"domain": "mine", "name": "n", "version": "1"})
}
