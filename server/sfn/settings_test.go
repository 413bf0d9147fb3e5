package sfn_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
)

// TestUnnamedResources creates machines whose definitions name more than AWS has.
//
// Attack (AWS clients): A definition, or a tested state, names a program, a file, a URL or a queue of workers.
// Result: Refused with its location, unless `--task` maps that name.
func TestUnnamedResources(t *testing.T) {
	t.Parallel()
	called := false
	w := newWorld(t, sfn.Config{
		Named: func(name string) bool { return name == "worker:charge" },
		Call: func(context.Context, string, atom.Value) (atom.Value, *atom.Failure) {
			called = true
			return atom.Null, nil
		},
	})
	create := func(definition string) string {
		return w.call(t, "CreateStateMachine", object{"name": "m", "definition": definition, "roleArn": role}).Message
	}
	task := func(fields string) string {
		return `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[{"StartAt":"a/b","States":{` +
			`"a/b":{"Type":"Task",` + fields + `,"End":true}}}]}}}`
	}
	const state = "/States/P/Branches[0]/States/a/b/"
	for _, c := range []struct{ fields, resource, at string }{
		{`"Resource":"exec:./book"`, "exec:./book", "Resource"},
		{`"Resource":"https://internal/"`, "https://internal/", "Resource"},
		{`"Resource":"worker:other"`, "worker:other", "Resource"},
		{`"Resource":"file:/etc/passwd"`, "file:/etc/passwd", "Resource"},
		{`"Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"},"Revert":"exec:./cancel"`, "exec:./cancel", "Revert"},
		{`"Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"},"Revert":{"Resource":"exec:x"}`, "exec:x", "Revert/Resource"},
	} {
		want := fmt.Sprintf("Invalid State Machine Definition: 'INVALID_RESOURCE: The resource provided %s is not recognized. The "+
			"value is not a valid resource ARN, or the resource is not available in this region. at %s%s'", c.resource, state, c.at)
		if got := create(task(c.fields)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.fields, got, want)
		}
	}
	tested := w.call(t, "TestState", object{"roleArn": role, "definition": `{"Type":"Task","Resource":"exec:./book","End":true}`})
	if tested.Code != "InvalidDefinition" || called {
		t.Errorf("a test of a state that names a program: %s %s, called: %t", tested.Code, tested.Message, called)
	}
	for _, named := range []string{
		task(`"Resource":"worker:charge"`),
		task(`"Resource":"arn:aws:states:::dynamodb:getItem","Parameters":{"TableName":"t","Key":{}}`),
	} {
		if got := w.call(t, "ValidateStateMachineDefinition", object{"definition": named}); !strings.Contains(string(got.Body), `"OK"`) {
			t.Errorf("%s: %s", named, got.Body)
		}
	}
}

// TestTags adds and removes tags of a machine and of an activity.
func TestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	w.must(t, "CreateActivity", object{"name": "a"}, nil)
	for _, arn := range []string{w.machine(t, "m"), resource + "activity:a"} {
		var many []object
		for i := range 50 {
			many = append(many, object{"key": fmt.Sprint(i), "value": "v"})
		}
		w.must(t, "TagResource", object{"resourceArn": arn, "tags": many}, nil)
		w.refuses(t, "TagResource", object{"resourceArn": arn, "tags": []object{{"key": "more", "value": ""}}}, "TooManyTags")
		w.must(t, "TagResource", object{"resourceArn": arn, "tags": []object{{"key": "7", "value": "w"}}}, nil)
		var keys []string
		for _, tag := range many[8:] {
			keys = append(keys, tag["key"].(string))
		}
		w.must(t, "UntagResource", object{"resourceArn": arn, "tagKeys": append(keys, "none")}, nil)
		tags := w.make(t, "ListTagsForResource", object{"resourceArn": arn}).Tags
		if len(tags) != 8 || tags[0].Key != "0" || tags[7].Value != "w" {
			t.Errorf("the tags are %v", tags)
		}
	}
	w.refuses(t, "TagResource", object{"resourceArn": resource + "activity:b", "tags": []object{}}, "ResourceNotFound")
}

// TestRefusals calls operations with parameters that AWS refuses.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{LogGroups: map[string]io.Writer{"g": nil}})
	arn := w.machine(t, "m")
	with := func(name string, value any) object {
		return object{"name": "n", "definition": commented(""), "roleArn": role, name: value}
	}
	logs := func(group string) object {
		return object{"level": "ALL", "destinations": []object{{"cloudWatchLogsLogGroup": object{"logGroupArn": group}}}}
	}
	const groups = "arn:aws:logs:us-east-1:000000000000:log-group:"
	foreign := strings.Replace(arn, "us-east-1", "eu-west-1", 1)
	for _, c := range []struct {
		op, code string
		params   object
	}{
		{"CreateStateMachine", "InvalidName", with("name", "a b")},
		{"CreateStateMachine", "InvalidName", with("name", "a\u0085")},
		{"CreateStateMachine", "InvalidName", with("name", "a\u202e")},
		{"CreateStateMachine", "InvalidName", with("name", strings.Repeat("😀", 80))},
		{"CreateStateMachine", "ValidationException", with("name", strings.Repeat("ü", 81))},
		{"CreateStateMachine", "InvalidArn", with("roleArn", "role")},
		{"CreateStateMachine", "InvalidArn", with("roleArn", resource+"stateMachine:m")},
		{"CreateStateMachine", "InvalidLoggingConfiguration", with("loggingConfiguration", object{"level": "ALL"})},
		{"CreateStateMachine", "InvalidLoggingConfiguration", with("loggingConfiguration", logs(groups+"other:*"))},
		{"CreateStateMachine", "InvalidLoggingConfiguration", with("loggingConfiguration", logs(groups+"g"))},
		{"CreateStateMachine", "InvalidEncryptionConfiguration", with("encryptionConfiguration", object{"type": "CUSTOMER_MANAGED_KMS_KEY"})},
		{"CreateStateMachine", "InvalidDefinition", with("definition", "{}")},
		{"UpdateStateMachine", "MissingRequiredParameter", object{"stateMachineArn": arn, "publish": true}},
		{"UpdateStateMachine", "InvalidDefinition", object{"stateMachineArn": arn, "definition": "{}"}},
		{"UpdateStateMachine", "StateMachineDoesNotExist", object{"stateMachineArn": foreign, "definition": commented("")}},
		{"DescribeStateMachine", "StateMachineDoesNotExist", object{"stateMachineArn": foreign}},
		{"DescribeStateMachine", "ValidationException", object{"stateMachineArn": arn + "/label"}},
		{"DescribeStateMachine", "InvalidArn", object{"stateMachineArn": resource + "activity:m"}},
		{"DescribeStateMachine", "InvalidArn", object{"stateMachineArn": "arn:aws:states"}},
		{"DescribeStateMachine", "InvalidArn", object{"stateMachineArn": arn + ":"}},
		{"CreateActivity", "InvalidName", object{"name": "a/b"}},
		{"DescribeActivity", "ActivityDoesNotExist", object{"activityArn": resource + "activity:none"}},
		{"TestState", "InvalidArn", object{"definition": `{"Type":"Pass","End":true}`, "roleArn": "role"}},
	} {
		w.refuses(t, c.op, c.params, c.code)
	}
	w.must(t, "CreateStateMachine", with("loggingConfiguration", logs(groups+"g:*")), nil)
}

// TestQuotas creates one more than each quota allows.
func TestQuotas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{Quotas: map[aws.Quota]int64{
		sfn.QuotaMachines: 1, sfn.QuotaActivities: 1, sfn.QuotaVersions: 1, sfn.QuotaAliases: 1, sfn.QuotaTags: aws.NoQuota,
		sfn.QuotaPollers: 0,
	}})
	arn := w.machine(t, "m")
	w.must(t, "CreateActivity", object{"name": "a"}, nil)
	w.must(t, "PublishStateMachineVersion", object{"stateMachineArn": arn}, nil)
	alias := func(name string) object {
		return object{"name": name, "routingConfiguration": []object{{"stateMachineVersionArn": arn + ":1", "weight": 100}}}
	}
	w.must(t, "CreateStateMachineAlias", alias("one"), nil)
	w.refuses(t, "CreateStateMachine", object{"name": "n", "definition": commented(""), "roleArn": role}, "StateMachineLimitExceeded")
	w.refuses(t, "CreateActivity", object{"name": "b"}, "ActivityLimitExceeded")
	w.refuses(t, "GetActivityTask", object{"activityArn": arns + "activity:a"}, "ActivityWorkerLimitExceeded")
	w.refuses(t, "CreateStateMachineAlias", alias("two"), "ServiceQuotaExceededException")
	w.refuses(t, "UpdateStateMachine", object{"stateMachineArn": arn, "definition": commented("x"), "publish": true},
		"ServiceQuotaExceededException")
	if got := w.make(t, "DescribeStateMachine", object{"stateMachineArn": arn}); got.Definition != commented("") {
		t.Error("an update that cannot be published has changed the machine")
	}
	if _, err := sfn.New(sfn.Config{Store: w.store, Quotas: map[aws.Quota]int64{"x": 1}}); err == nil {
		t.Error("an unknown quota is accepted")
	}
}

// TestFindingsInPages validates a definition with more problems than are asked for, and with warnings.
func TestFindingsInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	type answer struct {
		Result      string
		Truncated   bool
		Diagnostics []struct{ Severity, Code, Location string }
	}
	validate := func(params object) (out answer) {
		w.must(t, "ValidateStateMachineDefinition", params, &out)
		return out
	}
	const doubtful = `{"StartAt":"A","States":{"A":{"Type":"Pass","Parameters":{"x":"$.y"},"End":true}}}`
	if got := validate(object{"definition": doubtful}); got.Result != "OK" || len(got.Diagnostics) > 0 {
		t.Errorf("without warnings: %+v", got)
	}
	got := validate(object{"definition": doubtful, "severity": "WARNING"})
	if got.Result != "OK" || len(got.Diagnostics) != 1 || got.Diagnostics[0].Code != "NO_DOLLAR" {
		t.Errorf("with warnings: %+v", got)
	}
	const wrong = `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"X"},"B":{"Type":"Wait","Next":"Y"},"C":{"Type":"Fail"}}}`
	all := validate(object{"definition": wrong})
	one := validate(object{"definition": wrong, "maxResults": 1})
	if all.Truncated || len(all.Diagnostics) < 2 || !one.Truncated || !cmp.Equal(one.Diagnostics, all.Diagnostics[:1]) {
		t.Errorf("all: %+v, one: %+v", all, one)
	}
}
