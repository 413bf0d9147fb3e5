package interop_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// work does the tasks of an activity until ctx ends. docs/how-to/use-aws-clients.md links to it.
func work(ctx context.Context, c *sfn.Client, activity string, do func(input string) (string, error)) error {
	for {
		task, err := c.GetActivityTask(ctx, &sfn.GetActivityTaskInput{ActivityArn: &activity}) // waits up to a minute
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if aws.ToString(task.TaskToken) == "" { // no task came
			continue
		}
		output, err := do(aws.ToString(task.Input))
		if err != nil {
			_, err = c.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{
				TaskToken: task.TaskToken, Error: aws.String("Refused"), Cause: aws.String(err.Error()),
			})
		} else {
			_, err = c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: task.TaskToken, Output: &output})
		}
		if err != nil {
			return err
		}
	}
}

// TestUndo starts a saga with the SDK. Its second task fails, so Ebb undoes the first: a worker does the task that Revert
// names. DescribeExecution and `ebb show` agree.
func TestUndo(t *testing.T) {
	t.Parallel()
	s, ctx := serve(t), bounded(t)
	c := s.client()
	arns := map[string]string{}
	var mu sync.Mutex
	var done []string
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for _, name := range []string{"book", "pay", "cancel"} {
		a, err := c.CreateActivity(ctx, &sfn.CreateActivityInput{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		arns[name] = *a.ActivityArn
		workers.Go(func() {
			if err := work(working, c, *a.ActivityArn, func(string) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				done = append(done, name)
				if name == "pay" {
					return "", errors.New("the card is empty")
				}
				return `"` + name + `"`, nil
			}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	m, err := c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("trip"), RoleArn: aws.String(roleARN),
		Definition: aws.String(`{"StartAt": "Book", "States": {
			"Book": {"Type": "Task", "Resource": "` + arns["book"] + `", "Revert": "` + arns["cancel"] + `", "Next": "Pay"},
			"Pay": {"Type": "Task", "Resource": "` + arns["pay"] + `", "End": true}}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn, Name: aws.String("monday")})
	if err != nil {
		t.Fatal(err)
	}
	d := ended(ctx, t, c, *e.ExecutionArn)
	stop()
	workers.Wait()
	if d.Status != types.ExecutionStatusFailed || aws.ToString(d.Cause) != "the card is empty" {
		t.Errorf("%s %s", d.Status, aws.ToString(d.Cause))
	}
	if got := strings.Join(done, " "); got != "book pay cancel" {
		t.Errorf("done: %s", got)
	}
	show := exec.CommandContext(ctx, command(t), "show", "trip:monday", "--dsn", "sqlite:"+filepath.Join(s.dir, "ebb.db"))
	out, err := show.Output()
	if text := string(out); err != nil || !strings.Contains(text, "REVERTED") {
		t.Errorf("%v: %s", err, text)
	}
	t.Logf("%s", out)
	if _, err := c.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: e.ExecutionArn}); !is[*types.ExecutionNotRedrivable](err) {
		t.Errorf("an execution that was undone: %v", err)
	}
}
