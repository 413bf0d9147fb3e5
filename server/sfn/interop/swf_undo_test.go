package interop_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/swf"
	"github.com/aws/aws-sdk-go-v2/service/swf/types"
)

// fail ends an execution.
var fail = types.Decision{
	DecisionType:                            types.DecisionTypeFailWorkflowExecution,
	FailWorkflowExecutionDecisionAttributes: &types.FailWorkflowExecutionDecisionAttributes{Reason: aws.String("out of stock")},
}

func schedule(name string) types.Decision {
	return types.Decision{
		DecisionType: types.DecisionTypeScheduleActivityTask,
		ScheduleActivityTaskDecisionAttributes: &types.ScheduleActivityTaskDecisionAttributes{
			ActivityId: aws.String(name), ActivityType: &types.ActivityType{Name: aws.String(name), Version: aws.String("1")},
			Input: aws.String("for " + name),
		},
	}
}

// TestSWFUndo undoes an order that fails. The server is killed right after the order has failed, while a worker undoes,
// and while the failed undo waits for a person.
//
// Guarantee (G4): An open run whose language asks a person is listed until the language has its answer, also after a
// suspension or death.
// Also: `engine: TestPerson`.
func TestSWFUndo(t *testing.T) {
	t.Parallel()
	registered := filepath.Join(t.TempDir(), "undo")
	if err := os.WriteFile(registered, []byte("reserve/1 = release/1\ncharge/1 = refund/1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--swf-undo", registered)
	ctx, c := bounded(t), s.workflows()
	register(ctx, t, c)
	for _, name := range []string{"reserve", "release", "refund"} {
		if _, err := c.RegisterActivityType(ctx, &swf.RegisterActivityTypeInput{
			Domain: aws.String(shop), Name: aws.String(name), Version: aws.String("1"), DefaultTaskList: list(name),
			DefaultTaskHeartbeatTimeout: aws.String("NONE"), DefaultTaskScheduleToCloseTimeout: aws.String("NONE"),
			DefaultTaskScheduleToStartTimeout: aws.String("NONE"), DefaultTaskStartToCloseTimeout: aws.String("60"),
		}); err != nil {
			t.Fatal(err)
		}
	}
	started, err := c.StartWorkflowExecution(ctx, &swf.StartWorkflowExecutionInput{
		Domain: aws.String(shop), WorkflowId: aws.String("order-2"),
		WorkflowType: &types.WorkflowType{Name: aws.String("order"), Version: aws.String("1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, decision := range []types.Decision{schedule("reserve"), schedule("charge"), fail} {
		decideOnce(ctx, t, c, decision)
		if name := decision.ScheduleActivityTaskDecisionAttributes; name != nil {
			completed(ctx, t, c, takeActivity(ctx, t, c, *name.ActivityId))
		}
	}
	restart := func() {
		s.kill(t)
		s.start(t)
	}
	restart()
	refund := takeActivity(ctx, t, c, "refund")
	if got := aws.ToString(refund.Input); got != `{"input":"for charge","result":"did charge","outcome":"done"}` {
		t.Errorf("the first undo has the input %s", got)
	}
	undo := refund.WorkflowExecution
	if got := aws.ToString(undo.WorkflowId); got != "order-2:undo" {
		t.Errorf("the execution that undoes is %s", got)
	}
	restart()
	if _, err := c.RespondActivityTaskFailed(ctx, &swf.RespondActivityTaskFailedInput{
		TaskToken: refund.TaskToken, Reason: aws.String("bank closed"),
	}); err != nil {
		t.Fatal(err)
	}
	restart()
	if got := s.needPerson(t); got != aws.ToString(undo.RunId) {
		t.Errorf("the runs that need a person are %q, want %s", got, aws.ToString(undo.RunId))
	}
	if _, err := c.SignalWorkflowExecution(ctx, &swf.SignalWorkflowExecutionInput{
		Domain: aws.String(shop), WorkflowId: undo.WorkflowId, SignalName: aws.String("retry"),
	}); err != nil {
		t.Fatal(err)
	}
	if got := s.needPerson(t); got != "" {
		t.Errorf("after the person has decided, %q need one", got)
	}
	completed(ctx, t, c, takeActivity(ctx, t, c, "refund"))
	completed(ctx, t, c, takeActivity(ctx, t, c, "release"))
	await(ctx, t, c, undo, types.EventTypeWorkflowExecutionCompleted)
	of := &types.WorkflowExecution{WorkflowId: aws.String("order-2"), RunId: started.RunId}
	events := await(ctx, t, c, of, types.EventTypeWorkflowExecutionFailed)
	if last := events[len(events)-1].EventType; last != types.EventTypeWorkflowExecutionFailed {
		t.Errorf("the last event of the order is %s", last)
	}
	closed, err := c.ListClosedWorkflowExecutions(ctx, &swf.ListClosedWorkflowExecutionsInput{
		Domain: aws.String(shop), ExecutionFilter: &types.WorkflowExecutionFilter{WorkflowId: undo.WorkflowId},
		StartTimeFilter: &types.ExecutionTimeFilter{OldestDate: aws.Time(events[0].EventTimestamp.Add(-1))},
	})
	if err != nil || len(closed.ExecutionInfos) != 1 || aws.ToString(closed.ExecutionInfos[0].Parent.RunId) != *of.RunId {
		t.Errorf("the closed executions are %+v, %v", closed, err)
	}
}

// decideOnce takes a decision task of an order, and answers with one decision.
func decideOnce(ctx context.Context, t *testing.T, c *swf.Client, decision types.Decision) {
	t.Helper()
	task, err := c.PollForDecisionTask(ctx, &swf.PollForDecisionTaskInput{Domain: aws.String(shop), TaskList: list("order")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RespondDecisionTaskCompleted(ctx, &swf.RespondDecisionTaskCompletedInput{
		TaskToken: task.TaskToken, Decisions: []types.Decision{decision},
	}); err != nil {
		t.Fatal(err)
	}
}

// takeActivity takes an activity task from the task list of a name.
func takeActivity(ctx context.Context, t *testing.T, c *swf.Client, name string) *swf.PollForActivityTaskOutput {
	t.Helper()
	task, err := c.PollForActivityTask(ctx, &swf.PollForActivityTaskInput{Domain: aws.String(shop), TaskList: list(name)})
	if err != nil || aws.ToString(task.TaskToken) == "" {
		t.Fatalf("no task for %s: %v", name, err)
	}
	return task
}

func completed(ctx context.Context, t *testing.T, c *swf.Client, task *swf.PollForActivityTaskOutput) {
	t.Helper()
	if _, err := c.RespondActivityTaskCompleted(ctx, &swf.RespondActivityTaskCompletedInput{
		TaskToken: task.TaskToken, Result: aws.String("did " + aws.ToString(task.ActivityId)),
	}); err != nil {
		t.Fatal(err)
	}
}

// needPerson returns the ids of the runs that need a person.
func (s *server) needPerson(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), command(t), "list", "--dsn", "sqlite:"+filepath.Join(s.dir, "ebb.db"), "--needs-person")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var ids []string
	for line := range strings.Lines(string(out)) {
		if id, _, _ := strings.Cut(line, " "); len(id) == 32 {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}
