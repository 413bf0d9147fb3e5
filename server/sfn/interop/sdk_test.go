package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// reviewed is a machine whose second state is done by a worker of an activity.
func reviewed(activity string) string {
	return fmt.Sprintf(`{"StartAt": "Prepare", "States": {
		"Prepare": {"Type": "Pass", "Result": {"n": 1}, "ResultPath": "$.prepared", "Next": "Review"},
		"Review": {"Type": "Task", "Resource": %q, "HeartbeatSeconds": 30, "ResultPath": "$.review", "Next": "Done"},
		"Done": {"Type": "Succeed"}}}`, activity)
}

// setUp creates the activity and the machine, and returns their ARNs. It may be called again.
func setUp(ctx context.Context, t *testing.T, c *sfn.Client) (activity, machine string) {
	t.Helper()
	a, err := c.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("review")})
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("orders"), RoleArn: aws.String(roleARN), Definition: aws.String(reviewed(*a.ActivityArn)),
		Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("shop")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return *a.ActivityArn, *m.StateMachineArn
}

// ended waits until an execution has ended.
func ended(ctx context.Context, t *testing.T, c *sfn.Client, arn string) *sfn.DescribeExecutionOutput {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond) //nolint:mnd // between two calls
	defer tick.Stop()
	for {
		d, err := c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != types.ExecutionStatusRunning {
			return d
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s has not ended", arn)
		}
	}
}

// take takes a task of an activity.
func take(ctx context.Context, t *testing.T, c *sfn.Client, activity string) *sfn.GetActivityTaskOutput {
	t.Helper()
	for {
		task, err := c.GetActivityTask(ctx, &sfn.GetActivityTaskInput{
			ActivityArn: &activity, WorkerName: aws.String("worker"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if aws.ToString(task.TaskToken) != "" {
			return task
		}
	}
}

// history reads a history in pages of two events.
func history(ctx context.Context, t *testing.T, c *sfn.Client, arn string, reverse bool) []types.HistoryEvent {
	t.Helper()
	var all []types.HistoryEvent
	pages := sfn.NewGetExecutionHistoryPaginator(c, &sfn.GetExecutionHistoryInput{
		ExecutionArn: &arn, MaxResults: 2, ReverseOrder: reverse,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Events...)
	}
	return all
}

// checkWhole checks that a history has no gap, and that no event is in it twice.
func checkWhole(t *testing.T, events []types.HistoryEvent) {
	t.Helper()
	for i := range events {
		if events[i].Id != int64(i+1) || events[i].PreviousEventId >= events[i].Id {
			t.Errorf("event %d has id %d and follows from %d", i+1, events[i].Id, events[i].PreviousEventId)
		}
	}
}

// TestSDK does with the SDK for Go what programs do: it creates, publishes, starts, works, waits, describes, pages,
// stops and tests a state. The first part runs twice, as scripts for infrastructure do.
func TestSDK(t *testing.T) {
	t.Parallel()
	s, ctx := serve(t), bounded(t)
	c := s.client()
	activity, machine := setUp(ctx, t, c)
	again, same := setUp(ctx, t, c)
	if again != activity || same != machine {
		t.Errorf("created again: %s %s", again, same)
	}
	published, err := c.PublishStateMachineVersion(ctx, &sfn.PublishStateMachineVersionInput{StateMachineArn: &machine})
	if err != nil {
		t.Fatal(err)
	}
	alias, err := c.CreateStateMachineAlias(ctx, &sfn.CreateStateMachineAliasInput{
		Name: aws.String("live"), RoutingConfiguration: []types.RoutingConfigurationListItem{
			{StateMachineVersionArn: published.StateMachineVersionArn, Weight: 100}, //nolint:mnd // all of it
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	start := &sfn.StartExecutionInput{
		StateMachineArn: alias.StateMachineAliasArn, Name: aws.String("first"), Input: aws.String(`{"order": 7}`),
	}
	started, err := c.StartExecution(ctx, start)
	if err != nil {
		t.Fatal(err)
	}
	if repeated, err := c.StartExecution(ctx, start); err != nil || *repeated.ExecutionArn != *started.ExecutionArn ||
		!repeated.StartDate.Equal(*started.StartDate) {
		t.Errorf("started again: %v %v", repeated, err)
	}
	task := take(ctx, t, c, activity)
	if _, err := c.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: task.TaskToken}); err != nil {
		t.Error(err)
	}
	if _, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{
		TaskToken: task.TaskToken, Output: aws.String(`"fine"`),
	}); err != nil {
		t.Error(err)
	}
	d := ended(ctx, t, c, *started.ExecutionArn)
	if got := compact(t, aws.ToString(d.Output)); got != `{"order":7,"prepared":{"n":1},"review":"fine"}` {
		t.Errorf("%s %s", d.Status, got)
	}
	if aws.ToString(d.StateMachineAliasArn) != *alias.StateMachineAliasArn ||
		aws.ToString(d.StateMachineVersionArn) != *published.StateMachineVersionArn {
		t.Errorf("alias %s, version %s", aws.ToString(d.StateMachineAliasArn), aws.ToString(d.StateMachineVersionArn))
	}
	events := history(ctx, t, c, *started.ExecutionArn, false)
	checkWhole(t, events)
	backward := history(ctx, t, c, *started.ExecutionArn, true)
	slices.Reverse(backward)
	if len(events) != len(backward) || events[len(events)-1].Type != types.HistoryEventTypeExecutionSucceeded {
		t.Errorf("%d events, %d backward", len(events), len(backward))
	}
	if _, err := c.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: &machine, Name: aws.String("first"),
	}); !is[*types.ExecutionAlreadyExists](err) {
		t.Errorf("the name is taken: %v", err)
	}
	if _, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{
		StateMachineArn: aws.String(machine + "x"),
	}); !is[*types.StateMachineDoesNotExist](err) {
		t.Errorf("no such machine: %v", err)
	}
	listed, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{
		StateMachineArn: &machine, StatusFilter: types.ExecutionStatusSucceeded,
	})
	if err != nil || len(listed.Executions) != 1 {
		t.Errorf("listed: %v %v", listed, err)
	}
}

// TestStop stops an execution that waits for a worker, and lets one fail.
func TestStop(t *testing.T) {
	t.Parallel()
	s, ctx := serve(t), bounded(t)
	c := s.client()
	activity, machine := setUp(ctx, t, c)
	stopped, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &machine})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StopExecution(ctx, &sfn.StopExecutionInput{
		ExecutionArn: stopped.ExecutionArn, Error: aws.String("Enough"), Cause: aws.String("no more"),
	}); err != nil {
		t.Fatal(err)
	}
	d := ended(ctx, t, c, *stopped.ExecutionArn)
	if d.Status != types.ExecutionStatusAborted || aws.ToString(d.Error) != "Enough" || aws.ToString(d.Cause) != "no more" {
		t.Errorf("%s %s %s", d.Status, aws.ToString(d.Error), aws.ToString(d.Cause))
	}
	failed, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &machine})
	if err != nil {
		t.Fatal(err)
	}
	task := take(ctx, t, c, activity)
	if _, err := c.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{
		TaskToken: task.TaskToken, Error: aws.String("Rejected"), Cause: aws.String("too dear"),
	}); err != nil {
		t.Fatal(err)
	}
	if d := ended(ctx, t, c, *failed.ExecutionArn); d.Status != types.ExecutionStatusFailed ||
		aws.ToString(d.Error) != "Rejected" || aws.ToString(d.Cause) != "too dear" {
		t.Errorf("%s %s %s", d.Status, aws.ToString(d.Error), aws.ToString(d.Cause))
	}
	if _, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{
		TaskToken: task.TaskToken, Output: aws.String(`1`),
	}); !is[*types.TaskTimedOut](err) && !is[*types.TaskDoesNotExist](err) {
		t.Errorf("a late answer: %v", err)
	}
}

// TestSync runs an Express machine and tests a state, without the prefix sync- of the host.
func TestSync(t *testing.T) {
	t.Parallel()
	s, ctx := serve(t), bounded(t)
	c := s.client()
	const pass = `{"Type": "Pass", "Parameters": {"sum.$": "States.MathAdd($.a, $.b)"}, "End": true}`
	m, err := c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("sum"), RoleArn: aws.String(roleARN), Type: types.StateMachineTypeExpress,
		Definition: aws.String(`{"StartAt": "Sum", "States": {"Sum": ` + pass + `}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	done, err := c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{
		StateMachineArn: m.StateMachineArn, Input: aws.String(`{"a": 1, "b": 2}`),
	})
	if err != nil || compact(t, aws.ToString(done.Output)) != `{"sum":3}` || done.BillingDetails == nil {
		t.Errorf("%v %v", done, err)
	}
	tested, err := c.TestState(ctx, &sfn.TestStateInput{Definition: aws.String(pass), Input: aws.String(`{"a": 3, "b": 4}`)})
	if err != nil || tested.Status != types.TestExecutionStatusSucceeded || compact(t, aws.ToString(tested.Output)) != `{"sum":7}` {
		t.Errorf("%v %v", tested, err)
	}
}

// TestKilled kills the server while an execution waits for a worker. After a restart, the worker takes the task, and the
// history has no gap.
func TestKilled(t *testing.T) {
	t.Parallel()
	s, ctx := serve(t), bounded(t)
	c := s.client()
	activity, machine := setUp(ctx, t, c)
	var started []string
	for range 5 {
		e, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &machine, Input: aws.String(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, *e.ExecutionArn)
	}
	taken := take(ctx, t, c, activity)
	s.kill(t)
	s.start(t)
	for i := range started {
		task := taken
		if i > 0 {
			task = take(ctx, t, c, activity)
		}
		if _, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{
			TaskToken: task.TaskToken, Output: aws.String(`{"ok": true}`),
		}); err != nil {
			t.Error(err)
		}
	}
	var first []types.HistoryEventType
	for _, arn := range started {
		if d := ended(ctx, t, c, arn); d.Status != types.ExecutionStatusSucceeded {
			t.Errorf("%s: %s %s", arn, d.Status, aws.ToString(d.Cause))
		}
		events := history(ctx, t, c, arn, false)
		checkWhole(t, events)
		var kinds []types.HistoryEventType
		for i := range events {
			kinds = append(kinds, events[i].Type)
		}
		if first == nil {
			first = kinds
		}
		if !slices.Equal(first, kinds) {
			t.Errorf("%s: %v\nwant %v", arn, kinds, first)
		}
	}
}

// TestSignatures refuses a wrong secret, an unknown key and no signature.
func TestSignatures(t *testing.T) {
	t.Parallel()
	s, ctx := serve(t), bounded(t)
	for name, as := range map[string]aws.Credentials{
		"InvalidSignatureException":   {AccessKeyID: accessKey, SecretAccessKey: "wrong"},
		"UnrecognizedClientException": {AccessKeyID: "AKIAIOSFODNN7UNKNOWN", SecretAccessKey: secretKey},
	} {
		c := sfn.New(sfn.Options{
			Region: region, BaseEndpoint: aws.String(s.address),
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return as, nil }),
		})
		_, err := c.ListStateMachines(ctx, &sfn.ListStateMachinesInput{})
		var refused interface{ ErrorCode() string }
		if !errors.As(err, &refused) || refused.ErrorCode() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return string(out)
}
