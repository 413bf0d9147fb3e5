package interop_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

const region = "eu-west-1"

// TestGoFunctions calls a function that is built with aws-lambda-go, by the client of Lambda and in executions. Its
// project is that of SAM, and names nothing of Ebb.
func TestGoFunctions(t *testing.T) {
	t.Parallel()
	ctx, endpoint := bounded(t), emulate(t)
	key := credentials.NewStaticCredentialsProvider("test", "test", "")
	functions := lambda.New(lambda.Options{Region: region, BaseEndpoint: &endpoint, Credentials: key})
	invokes(ctx, t, functions)
	describes(ctx, t, functions)
	machines := sfn.New(sfn.Options{Region: region, BaseEndpoint: &endpoint, Credentials: key})
	for _, c := range []struct {
		input  string
		status types.ExecutionStatus
		output string
		code   string
	}{
		{`{"item": "tea"}`, types.ExecutionStatusSucceeded, sold, ""},
		{`{"item": "tea", "how": "fails"}`, types.ExecutionStatusSucceeded, `"ordered"`, ""},
		{`{"item": "tea", "how": "sleeps"}`, types.ExecutionStatusFailed, "", "Sandbox.Timedout"},
		{`{"item": "tea", "how": "exits"}`, types.ExecutionStatusFailed, "", "Runtime.ExitError"},
		{`{"item": "tea", "how": "panics"}`, types.ExecutionStatusFailed, "", "string"},
	} {
		d := executed(ctx, t, machines, c.input)
		if d.Status != c.status || aws.ToString(d.Output) != c.output || aws.ToString(d.Error) != c.code {
			t.Errorf("%s: got %s %s %s %s", c.input, d.Status, aws.ToString(d.Output), aws.ToString(d.Error), aws.ToString(d.Cause))
		}
	}
}

const (
	functionARN = "arn:aws:lambda:eu-west-1:123456789012:function:sell"
	sold        = `{"item":"tea","table":"orders","function":"sell","arn":"` + functionARN + `","inTime":true}`
)

// invokes calls the function by the client of Lambda.
func invokes(ctx context.Context, t *testing.T, client *lambda.Client) {
	t.Helper()
	for _, name := range []string{"sell", functionARN, "123456789012:function:sell"} {
		out, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Payload: []byte(`{"item": "tea"}`), LogType: lambdatypes.LogTypeTail})
		if err != nil {
			t.Fatal(err)
		}
		log, _ := base64.StdEncoding.DecodeString(aws.ToString(out.LogResult))
		if string(out.Payload) != sold || out.FunctionError != nil || aws.ToString(out.ExecutedVersion) != "$LATEST" ||
			!strings.Contains(string(log), "\nselling tea\n") {
			t.Errorf("%s: got %s %v, with the log %s", name, out.Payload, out.FunctionError, log)
		}
	}
	for how, want := range map[string]string{
		"fails":  `{"errorMessage":"no tea","errorType":"stockError"}`,
		"says":   `{"errorMessage":"said","errorType":"errorString"}`,
		"panics": `{"errorMessage":"panicked","errorType":"string","stackTrace":[`,
		"exits":  `{"errorType":"Runtime.ExitError","errorMessage":"RequestId: `,
	} {
		out, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("sell"), Payload: []byte(`{"item": "tea", "how": "` + how + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(out.Payload), want) || aws.ToString(out.FunctionError) != "Unhandled" {
			t.Errorf("%s: got %s %v", how, out.Payload, aws.ToString(out.FunctionError))
		}
	}
}

// describes asks which functions there are.
func describes(ctx context.Context, t *testing.T, client *lambda.Client) {
	t.Helper()
	all, err := client.ListFunctions(ctx, &lambda.ListFunctionsInput{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := client.GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: aws.String("sell")})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Functions) != 1 || aws.ToString(all.Functions[0].FunctionArn) != functionARN ||
		aws.ToInt32(one.Configuration.MemorySize) != 256 {
		t.Errorf("got %+v and %+v", all.Functions, one.Configuration)
	}
	_, err = client.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("buy")})
	var unknown *lambdatypes.ResourceNotFoundException
	if !errors.As(err, &unknown) || !strings.HasPrefix(unknown.ErrorMessage(), "Function not found: ") {
		t.Errorf("an unknown function: %v", err)
	}
}

// executed starts an execution and waits for its end.
func executed(ctx context.Context, t *testing.T, client *sfn.Client, input string) *sfn.DescribeExecutionOutput {
	t.Helper()
	started, err := client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: aws.String("arn:aws:states:eu-west-1:123456789012:stateMachine:shop"), Input: &input,
	})
	if err != nil {
		t.Fatal(err)
	}
	for {
		d, err := client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: started.ExecutionArn})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != types.ExecutionStatusRunning {
			return d
		}
		time.Sleep(10 * time.Millisecond)
	}
}
