package interop_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// connections is how many clients ask at the same time.
const connections = 64

// A wire sends signed requests without the cost of an SDK, which would take most of the processor.
type wire struct {
	address string
	http    *http.Client
	signer  *v4.Signer
}

func (s *server) wire() *wire {
	return &wire{
		address: s.address, signer: v4.NewSigner(),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}},
	}
}

// call sends a request, and returns the status and the answer.
func (w *wire) call(ctx context.Context, operation, body string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address+"/", strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	sum := sha256.Sum256([]byte(body))
	err = w.signer.SignHTTP(ctx, aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, req,
		hex.EncodeToString(sum[:]), "states", region, time.Now())
	if err != nil {
		return 0, nil, err
	}
	r, err := w.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(r.Body)
	return r.StatusCode, answer, errors.Join(err, r.Body.Close())
}

// load sends b.N requests over 64 connections, and reports how many a second and how long they took.
func (w *wire) load(b *testing.B, operation, body string, status int) {
	b.Helper()
	var mu sync.Mutex
	var took []time.Duration
	b.ReportAllocs()
	b.SetParallelism(connections / 2) // on two processors
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		var mine []time.Duration
		for pb.Next() {
			began := time.Now()
			got, answer, err := w.call(b.Context(), operation, body)
			if err != nil || got != status {
				b.Errorf("%d %v: %s", got, err, bytes.TrimSpace(answer))
				return
			}
			mine = append(mine, time.Since(began))
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, mine...)
	})
	b.StopTimer()
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms") //nolint:mnd // of a hundred
}

// machine creates a machine of n computing states, and returns its ARN.
func machine(b *testing.B, c *sfn.Client, n int, kind types.StateMachineType) string {
	b.Helper()
	states := map[string]any{}
	for i := range n {
		state := map[string]any{"Type": "Pass", "Result": i, "Next": fmt.Sprintf("S%d", i+1)}
		if i == n-1 {
			delete(state, "Next")
			state["End"] = true
		}
		states[fmt.Sprintf("S%d", i)] = state
	}
	definition, err := json.Marshal(map[string]any{"StartAt": "S0", "States": states})
	if err != nil {
		b.Fatal(err)
	}
	m, err := c.CreateStateMachine(b.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("bench"), RoleArn: aws.String(roleARN), Type: kind, Definition: aws.String(string(definition)),
	})
	if err != nil {
		b.Fatal(err)
	}
	return *m.StateMachineArn
}

// allEnded reports how long it takes until no execution of a machine runs.
func allEnded(b *testing.B, c *sfn.Client, machine string) {
	b.Helper()
	began := time.Now()
	for {
		page, err := c.ListExecutions(b.Context(), &sfn.ListExecutionsInput{
			StateMachineArn: &machine, StatusFilter: types.ExecutionStatusRunning, MaxResults: 1,
		})
		if err != nil {
			b.Fatal(err)
		}
		if len(page.Executions) == 0 {
			b.ReportMetric(time.Since(began).Seconds(), "s-until-ended")
			return
		}
	}
}

// BenchmarkStartExecution starts executions, of one and of five computing states, on SQLite with signatures.
func BenchmarkStartExecution(b *testing.B) {
	for _, states := range []int{1, 5} {
		b.Run(fmt.Sprintf("states=%d", states), func(b *testing.B) {
			s := serve(b)
			c := s.client()
			arn := machine(b, c, states, types.StateMachineTypeStandard)
			s.wire().load(b, "StartExecution", `{"stateMachineArn": "`+arn+`", "input": "{}"}`, http.StatusOK)
			allEnded(b, c, arn)
		})
	}
}

// BenchmarkStartSyncExecution runs Express executions of five computing states.
func BenchmarkStartSyncExecution(b *testing.B) {
	s := serve(b)
	arn := machine(b, s.client(), 5, types.StateMachineTypeExpress) //nolint:mnd // states
	s.wire().load(b, "StartSyncExecution", `{"stateMachineArn": "`+arn+`", "input": "{}"}`, http.StatusOK)
}

// BenchmarkRefused sends requests that the server verifies, decodes and refuses without its database: a ceiling.
func BenchmarkRefused(b *testing.B) {
	serve(b).wire().load(b, "DescribeExecution", `{"executionArn": "arn:x"}`, http.StatusBadRequest)
}

// BenchmarkActivities runs executions of which a worker does two of five states. 32 clients start them, and 32 poll for
// tasks and end them.
func BenchmarkActivities(b *testing.B) {
	s := serve(b)
	c := s.client()
	a, err := c.CreateActivity(b.Context(), &sfn.CreateActivityInput{Name: aws.String("work")})
	if err != nil {
		b.Fatal(err)
	}
	const definition = `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
		"B": {"Type": "Task", "Resource": %[1]q, "Next": "C"}, "C": {"Type": "Pass", "Next": "D"},
		"D": {"Type": "Task", "Resource": %[1]q, "Next": "E"}, "E": {"Type": "Pass", "End": true}}}`
	m, err := c.CreateStateMachine(b.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("work"), RoleArn: aws.String(roleARN),
		Definition: aws.String(fmt.Sprintf(definition, *a.ActivityArn)),
	})
	if err != nil {
		b.Fatal(err)
	}
	w := s.wire()
	ctx, cancel := context.WithCancel(b.Context())
	var workers sync.WaitGroup
	for range connections / 2 {
		workers.Go(func() { w.work(ctx, b, *a.ActivityArn) })
	}
	b.SetParallelism(connections / 4) //nolint:mnd // half of the clients, on two processors
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			body := `{"stateMachineArn": "` + *m.StateMachineArn + `", "input": "{}"}`
			if status, answer, err := w.call(ctx, "StartExecution", body); status != http.StatusOK {
				b.Errorf("%d %v: %s", status, err, answer)
				return
			}
		}
	})
	allEnded(b, c, *m.StateMachineArn)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
	cancel()
	workers.Wait()
}

// work takes tasks and ends them, until ctx ends.
func (w *wire) work(ctx context.Context, b *testing.B, activity string) {
	for ctx.Err() == nil {
		_, answer, err := w.call(ctx, "GetActivityTask", `{"activityArn": "`+activity+`"}`)
		var task struct {
			Token string `json:"taskToken"`
		}
		if err != nil || json.Unmarshal(answer, &task) != nil || task.Token == "" {
			continue
		}
		if status, answer, err := w.call(ctx, "SendTaskSuccess",
			`{"taskToken": "`+task.Token+`", "output": "{}"}`); status != http.StatusOK && ctx.Err() == nil {
			b.Errorf("%d %v: %s", status, err, answer)
		}
	}
}
