// Package swforder has a decider and a worker of Amazon SWF that process an order. Nothing in it knows Ebb.
package swforder

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/swf"
	"github.com/aws/aws-sdk-go-v2/service/swf/types"
)

// decide returns what follows in an order: reserve, wait for a timer and for the payment, send a parcel as a child,
// charge. An order whose card is declined fails.
func decide(id string, events []types.HistoryEvent) []types.Decision {
	n := map[types.EventType]int{}
	for _, e := range events {
		n[e.EventType]++
	}
	switch {
	case n[types.EventTypeActivityTaskFailed] > 0:
		return []types.Decision{{
			DecisionType:                            types.DecisionTypeFailWorkflowExecution,
			FailWorkflowExecutionDecisionAttributes: &types.FailWorkflowExecutionDecisionAttributes{},
		}}
	case n[types.EventTypeActivityTaskCompleted] == 2:
		return complete()
	case n[types.EventTypeChildWorkflowExecutionCompleted] > 0 && n[types.EventTypeActivityTaskScheduled] == 1:
		return activity("charge")
	case n[types.EventTypeTimerFired] > 0 && n[types.EventTypeWorkflowExecutionSignaled] > 0 &&
		n[types.EventTypeStartChildWorkflowExecutionInitiated] == 0:
		return []types.Decision{{
			DecisionType: types.DecisionTypeStartChildWorkflowExecution,
			StartChildWorkflowExecutionDecisionAttributes: &types.StartChildWorkflowExecutionDecisionAttributes{
				WorkflowId: aws.String("parcel-" + id), WorkflowType: &types.WorkflowType{Name: aws.String("parcel"), Version: aws.String("1")},
			},
		}}
	case n[types.EventTypeActivityTaskCompleted] == 1 && n[types.EventTypeTimerStarted] == 0:
		return []types.Decision{{
			DecisionType: types.DecisionTypeStartTimer, StartTimerDecisionAttributes: &types.StartTimerDecisionAttributes{
				TimerId: aws.String("cooling-off"), StartToFireTimeout: aws.String("1"),
			},
		}}
	case n[types.EventTypeActivityTaskScheduled] == 0:
		return activity("reserve")
	}
	return nil // what the order waits for has not happened
}

func complete() []types.Decision {
	return []types.Decision{{
		DecisionType: types.DecisionTypeCompleteWorkflowExecution,
		CompleteWorkflowExecutionDecisionAttributes: &types.CompleteWorkflowExecutionDecisionAttributes{},
	}}
}

func activity(name string) []types.Decision {
	return []types.Decision{{
		DecisionType: types.DecisionTypeScheduleActivityTask,
		ScheduleActivityTaskDecisionAttributes: &types.ScheduleActivityTaskDecisionAttributes{
			ActivityId: aws.String(name), ActivityType: &types.ActivityType{Name: aws.String(name), Version: aws.String("1")},
		},
	}}
}

// Decider decides about orders and parcels until ctx ends.
func Decider(ctx context.Context, c *swf.Client) {
	for ctx.Err() == nil {
		task, err := c.PollForDecisionTask(ctx, &swf.PollForDecisionTaskInput{Domain: aws.String("shop"), TaskList: list("decide")})
		if err != nil || aws.ToString(task.TaskToken) == "" {
			continue
		}
		decisions := complete() // a parcel
		if aws.ToString(task.WorkflowType.Name) == "order" {
			decisions = decide(aws.ToString(task.WorkflowExecution.WorkflowId), task.Events)
		}
		_, _ = c.RespondDecisionTaskCompleted(ctx, &swf.RespondDecisionTaskCompletedInput{
			TaskToken: task.TaskToken, Decisions: decisions,
		}) // if the answer is lost, the task times out and comes again
	}
}

// Worker does activities until ctx ends: do returns the result of one, or why it failed.
func Worker(ctx context.Context, c *swf.Client, do func(activity, input string) (string, error)) {
	for ctx.Err() == nil {
		task, err := c.PollForActivityTask(ctx, &swf.PollForActivityTaskInput{Domain: aws.String("shop"), TaskList: list("work")})
		if err != nil || aws.ToString(task.TaskToken) == "" {
			continue
		}
		if result, err := do(aws.ToString(task.ActivityType.Name), aws.ToString(task.Input)); err != nil {
			_, _ = c.RespondActivityTaskFailed(ctx, &swf.RespondActivityTaskFailedInput{
				TaskToken: task.TaskToken, Reason: aws.String(err.Error()),
			})
		} else {
			_, _ = c.RespondActivityTaskCompleted(ctx, &swf.RespondActivityTaskCompletedInput{
				TaskToken: task.TaskToken, Result: aws.String(result),
			})
		}
	}
}

func list(name string) *types.TaskList { return &types.TaskList{Name: aws.String(name)} }
