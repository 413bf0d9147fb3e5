package swforder_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/swf"
	"github.com/aws/aws-sdk-go-v2/service/swf/types"

	"github.com/ebbflow/ebb/examples/swforder"
)

// TestOrder processes two orders: the card of the second one is declined, so its reservation is released.
func TestOrder(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := swf.New(swf.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(serve(t)), Credentials: credentials.NewStaticCredentialsProvider("any", "any", ""),
	})
	register(ctx, t, c)
	var mu sync.Mutex
	var did []string
	declined := false
	done := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(did)
	}
	working, stop := context.WithCancel(ctx)
	var clients sync.WaitGroup
	clients.Go(func() { swforder.Decider(working, c) })
	clients.Go(func() {
		swforder.Worker(working, c, func(activity, input string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if did = append(did, strings.TrimSpace(activity+" "+input)); activity == "charge" && declined {
				return "", errors.New("card declined")
			}
			return activity + " done", nil
		})
	})
	defer clients.Wait()
	defer stop()
	order(ctx, t, c, "order-1", types.EventTypeWorkflowExecutionCompleted)
	if got := done(); !slices.Equal(got, []string{"reserve", "charge"}) {
		t.Errorf("the first order did %q", got)
	}
	mu.Lock()
	did, declined = nil, true
	mu.Unlock()
	run := order(ctx, t, c, "order-2", types.EventTypeWorkflowExecutionFailed)
	want := []string{"reserve", "charge", `release {"input":null,"result":"reserve done","outcome":"done"}`}
	for len(done()) < len(want) && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if got := done(); !slices.Equal(got, want) {
		t.Errorf("the second order did %q, want %q", got, want)
	}
	closed := func() []types.WorkflowExecutionInfo {
		out, err := c.ListClosedWorkflowExecutions(ctx, &swf.ListClosedWorkflowExecutionsInput{
			Domain: aws.String("shop"), StartTimeFilter: &types.ExecutionTimeFilter{OldestDate: aws.Time(time.Now().Add(-time.Hour))},
			ExecutionFilter: &types.WorkflowExecutionFilter{WorkflowId: aws.String("order-2:undo")},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.ExecutionInfos
	}
	for len(closed()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if undo := closed()[0]; undo.CloseStatus != types.CloseStatusCompleted || aws.ToString(undo.Parent.RunId) != run {
		t.Errorf("the execution that undoes is %+v", undo)
	}
}

// order processes an order until an event closes it, and returns its runId.
func order(ctx context.Context, t *testing.T, c *swf.Client, id string, closing types.EventType) string {
	t.Helper()
	started, err := c.StartWorkflowExecution(ctx, &swf.StartWorkflowExecutionInput{
		Domain: aws.String("shop"), WorkflowId: aws.String(id),
		WorkflowType: &types.WorkflowType{Name: aws.String("order"), Version: aws.String("1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SignalWorkflowExecution(ctx, &swf.SignalWorkflowExecutionInput{
		Domain: aws.String("shop"), WorkflowId: aws.String(id), SignalName: aws.String("paid"),
	}); err != nil {
		t.Fatal(err)
	}
	for {
		out, err := c.GetWorkflowExecutionHistory(ctx, &swf.GetWorkflowExecutionHistoryInput{
			Domain: aws.String("shop"), Execution: &types.WorkflowExecution{WorkflowId: aws.String(id), RunId: started.RunId},
			ReverseOrder: true, MaximumPageSize: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if out.Events[0].EventType == closing {
			return aws.ToString(started.RunId)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// register registers the domain and its types.
func register(ctx context.Context, t *testing.T, c *swf.Client) {
	t.Helper()
	_, err := c.RegisterDomain(ctx, &swf.RegisterDomainInput{
		Name: aws.String("shop"), WorkflowExecutionRetentionPeriodInDays: aws.String("1"),
	})
	for _, name := range []string{"order", "parcel"} {
		_, failed := c.RegisterWorkflowType(ctx, &swf.RegisterWorkflowTypeInput{
			Domain: aws.String("shop"), Name: aws.String(name), Version: aws.String("1"),
			DefaultTaskList: &types.TaskList{Name: aws.String("decide")}, DefaultChildPolicy: types.ChildPolicyTerminate,
			DefaultTaskStartToCloseTimeout: aws.String("60"), DefaultExecutionStartToCloseTimeout: aws.String("3600"),
		})
		err = errors.Join(err, failed)
	}
	for _, name := range []string{"reserve", "charge", "release", "refund"} {
		_, failed := c.RegisterActivityType(ctx, &swf.RegisterActivityTypeInput{
			Domain: aws.String("shop"), Name: aws.String(name), Version: aws.String("1"),
			DefaultTaskList: &types.TaskList{Name: aws.String("work")}, DefaultTaskHeartbeatTimeout: aws.String("NONE"),
			DefaultTaskStartToCloseTimeout: aws.String("60"), DefaultTaskScheduleToStartTimeout: aws.String("NONE"),
			DefaultTaskScheduleToCloseTimeout: aws.String("NONE"),
		})
		err = errors.Join(err, failed)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serve starts ebb serve on a database of its own, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	ebb := filepath.Join(t.TempDir(), "ebb")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", ebb, "./cmd/ebb")
	build.Dir, build.Env = root, append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := exec.CommandContext(t.Context(), ebb, "serve", "--dsn", "sqlite:"+filepath.Join(t.TempDir(), "orders.db"),
		"--listen", "127.0.0.1:0", "--swf-undo", "undo.txt", "--log-level", "warn")
	output, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() }) // the end of the test's context kills it
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), " on http://"); ok {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return "http://" + strings.TrimSuffix(strings.Fields(at)[0], "/")
		}
		t.Log(lines.Text())
	}
	t.Fatal("the server did not say where it listens")
	return ""
}
