package interop_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/swf"
	"github.com/aws/aws-sdk-go-v2/service/swf/types"
)

// workflows returns a client of Amazon SWF.
func (s *server) workflows() *swf.Client {
	return swf.New(swf.Options{
		Region: region, BaseEndpoint: aws.String(s.address), RetryMaxAttempts: 3,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
	})
}

// shop is the domain of the tests.
const shop = "shop"

func list(name string) *types.TaskList { return &types.TaskList{Name: aws.String(name)} }

// register registers the domain, and the types of the order.
func register(ctx context.Context, t *testing.T, c *swf.Client) {
	t.Helper()
	_, err := c.RegisterDomain(ctx, &swf.RegisterDomainInput{
		Name: aws.String(shop), WorkflowExecutionRetentionPeriodInDays: aws.String("1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"order", "parcel"} {
		_, err := c.RegisterWorkflowType(ctx, &swf.RegisterWorkflowTypeInput{
			Domain: aws.String(shop), Name: aws.String(name), Version: aws.String("1"), DefaultTaskList: list(name),
			DefaultTaskStartToCloseTimeout: aws.String("30"), DefaultExecutionStartToCloseTimeout: aws.String("300"),
			DefaultChildPolicy: types.ChildPolicyTerminate,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = c.RegisterActivityType(ctx, &swf.RegisterActivityTypeInput{
		Domain: aws.String(shop), Name: aws.String("charge"), Version: aws.String("1"), DefaultTaskList: list("charge"),
		DefaultTaskHeartbeatTimeout: aws.String("NONE"), DefaultTaskScheduleToCloseTimeout: aws.String("60"),
		DefaultTaskScheduleToStartTimeout: aws.String("60"), DefaultTaskStartToCloseTimeout: aws.String("30"),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// has reports whether a history has an event of a type.
func has(events []types.HistoryEvent, kind types.EventType) bool {
	for i := range events {
		if events[i].EventType == kind {
			return true
		}
	}
	return false
}

// decide returns the decisions of an order: charge, which fails at first; then wait for a timer; then for a signal; then
// send a parcel as a child.
func decide(events []types.HistoryEvent) []types.Decision {
	switch {
	case has(events, types.EventTypeChildWorkflowExecutionCompleted):
		return []types.Decision{complete("sent")}
	case has(events, types.EventTypeStartChildWorkflowExecutionInitiated):
	case has(events, types.EventTypeWorkflowExecutionSignaled) && has(events, types.EventTypeTimerFired):
		return []types.Decision{{
			DecisionType: types.DecisionTypeStartChildWorkflowExecution,
			StartChildWorkflowExecutionDecisionAttributes: &types.StartChildWorkflowExecutionDecisionAttributes{
				WorkflowId: aws.String("parcel-1"), WorkflowType: &types.WorkflowType{Name: aws.String("parcel"), Version: aws.String("1")},
			},
		}}
	case has(events, types.EventTypeTimerStarted):
	case has(events, types.EventTypeActivityTaskCompleted):
		return []types.Decision{{
			DecisionType: types.DecisionTypeStartTimer,
			StartTimerDecisionAttributes: &types.StartTimerDecisionAttributes{
				TimerId: aws.String("cooling-off"), StartToFireTimeout: aws.String("1"),
			},
		}}
	default:
		scheduled, failed := 0, 0
		for i := range events {
			switch events[i].EventType {
			case types.EventTypeActivityTaskScheduled:
				scheduled++
			case types.EventTypeActivityTaskFailed:
				failed++
			}
		}
		if scheduled > failed {
			return nil
		}
		return []types.Decision{{
			DecisionType: types.DecisionTypeScheduleActivityTask,
			ScheduleActivityTaskDecisionAttributes: &types.ScheduleActivityTaskDecisionAttributes{
				ActivityId: aws.String("charge"), ActivityType: &types.ActivityType{Name: aws.String("charge"), Version: aws.String("1")},
			},
		}}
	}
	return nil
}

func complete(result string) types.Decision {
	return types.Decision{
		DecisionType: types.DecisionTypeCompleteWorkflowExecution,
		CompleteWorkflowExecutionDecisionAttributes: &types.CompleteWorkflowExecutionDecisionAttributes{
			Result: aws.String(result),
		},
	}
}

// decider decides about the executions of one task list until ctx ends.
func decider(ctx context.Context, c *swf.Client, name string, of func([]types.HistoryEvent) []types.Decision) {
	for ctx.Err() == nil {
		task, err := c.PollForDecisionTask(ctx, &swf.PollForDecisionTaskInput{Domain: aws.String(shop), TaskList: list(name)})
		if err != nil || aws.ToString(task.TaskToken) == "" {
			continue
		}
		_, _ = c.RespondDecisionTaskCompleted(ctx, &swf.RespondDecisionTaskCompletedInput{
			TaskToken: task.TaskToken, Decisions: of(task.Events),
		}) // if the answer is lost, the task times out or the history shows that it was taken
	}
}

// charger does the activity: the first attempt fails.
func charger(ctx context.Context, c *swf.Client) {
	for failed := false; ctx.Err() == nil; {
		task, err := c.PollForActivityTask(ctx, &swf.PollForActivityTaskInput{Domain: aws.String(shop), TaskList: list("charge")})
		if err != nil || aws.ToString(task.TaskToken) == "" {
			continue
		}
		if !failed {
			_, err := c.RespondActivityTaskFailed(ctx, &swf.RespondActivityTaskFailedInput{
				TaskToken: task.TaskToken, Reason: aws.String("declined"),
			})
			failed = err == nil
			continue
		}
		_, _ = c.RespondActivityTaskCompleted(ctx, &swf.RespondActivityTaskCompletedInput{
			TaskToken: task.TaskToken, Result: aws.String("receipt 17"),
		})
	}
}

// TestSWF lets deciders and a worker with the SDK for Go process an order with a failing activity, a timer, a signal and a
// child. The server is killed in the middle.
func TestSWF(t *testing.T) {
	t.Parallel()
	s := serve(t)
	ctx, c := bounded(t), s.workflows()
	register(ctx, t, c)
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	workers.Go(func() { decider(working, c, "order", decide) })
	workers.Go(func() {
		decider(working, c, "parcel", func([]types.HistoryEvent) []types.Decision { return []types.Decision{complete("parcel")} })
	})
	workers.Go(func() { charger(working, c) })
	started, err := c.StartWorkflowExecution(ctx, &swf.StartWorkflowExecutionInput{
		Domain: aws.String(shop), WorkflowId: aws.String("order-1"), TagList: []string{"gift"},
		WorkflowType: &types.WorkflowType{Name: aws.String("order"), Version: aws.String("1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	of := &types.WorkflowExecution{WorkflowId: aws.String("order-1"), RunId: started.RunId}
	await(ctx, t, c, of, types.EventTypeTimerStarted)
	s.kill(t)
	s.start(t)
	if _, err = c.SignalWorkflowExecution(ctx, &swf.SignalWorkflowExecutionInput{
		Domain: aws.String(shop), WorkflowId: of.WorkflowId, SignalName: aws.String("paid"),
	}); err != nil {
		t.Fatal(err)
	}
	events := await(ctx, t, c, of, types.EventTypeWorkflowExecutionCompleted)
	for i := range events {
		if events[i].EventId != int64(i+1) {
			t.Errorf("event %d has the id %d", i+1, events[i].EventId)
		}
	}
	for _, want := range []types.EventType{
		types.EventTypeActivityTaskFailed, types.EventTypeActivityTaskCompleted, types.EventTypeTimerFired,
		types.EventTypeChildWorkflowExecutionCompleted,
	} {
		if !has(events, want) {
			t.Errorf("the history has no %s", want)
		}
	}
	_, err = c.SignalWorkflowExecution(ctx, &swf.SignalWorkflowExecutionInput{
		Domain: aws.String(shop), WorkflowId: of.WorkflowId, SignalName: aws.String("late"),
	})
	var unknown *types.UnknownResourceFault
	if !errors.As(err, &unknown) {
		t.Errorf("a signal to a closed execution: %v", err)
	}
}

// await waits until the history of an execution has an event of a type, and returns the history.
func await(ctx context.Context, t *testing.T, c *swf.Client, of *types.WorkflowExecution, kind types.EventType) []types.HistoryEvent {
	t.Helper()
	for {
		out, err := c.GetWorkflowExecutionHistory(ctx, &swf.GetWorkflowExecutionHistoryInput{Domain: aws.String(shop), Execution: of})
		if err != nil {
			t.Fatal(err)
		}
		if has(out.Events, kind) {
			return out.Events
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("no %s: %v", kind, out.Events)
		}
	}
}
