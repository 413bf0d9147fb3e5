//go:build unix

package sfn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// serveAlone serves a database until the process is killed. It prints its address.
func serveAlone(dsn string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, dsn)
	if err != nil {
		fail(err)
	}
	handler, c, err := composed(ctx, store, &tasks.Registry{})
	if err != nil {
		fail(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	go func() { fail(c.Run(ctx)) }()
	fmt.Fprintln(os.Stdout, "http://"+listener.Addr().String())
	fail(http.Serve(listener, handler))
}

// TestKilled kills a server again and again while clients start executions, do tasks and stop executions. Nothing that
// was answered with 200 is lost, and histories have neither gaps nor events that appear twice.
//
// Guarantee (G1): After kills of the server, what the AWS API acknowledged has its effect once. Histories have no gaps.
// A task whose client disconnected goes to the next client.
// Also: `TestActivityTaskNotReceived`.
func TestKilled(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		testKilled(t, filepath.Join(t.TempDir(), "ebb.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		testKilled(t, dsn)
	})
}

// An acknowledged is what a server has answered with 200.
type acknowledged struct {
	mu      sync.Mutex
	started map[string]bool   // ARNs of executions
	stopped map[string]bool   // ARNs of executions
	outputs map[string]string // by the names of executions: what a worker made of their tasks
	start   chan struct{}     // receives when an execution has started
	done    chan struct{}     // receives when a task was done
	unsure  []result          // results that were sent without an answer
}

// A result is what a worker made of a task.
type result struct{ token, name, output string }

func testKilled(t *testing.T, dsn string) {
	t.Helper()
	rounds := longtest.Count(2, 6, 6)
	known := &acknowledged{
		started: map[string]bool{}, stopped: map[string]bool{}, outputs: map[string]string{},
		start: make(chan struct{}, 1), done: make(chan struct{}, 1),
	}
	for round := range rounds {
		child := childtest.Start(t, servedVariable+"="+dsn)
		s := &served{tb: t, url: child.Line()}
		machines := s.machines()
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		var clients sync.WaitGroup
		for client := range 4 {
			clients.Go(func() { s.starts(ctx, machines, fmt.Sprintf("%d-%d-", round, client), known) })
			// An answer that was on its way when the server died is read, as otherwise the worker would have died with its task.
			clients.Go(func() { s.works(ctx, t.Context(), machines["activity"], known) })
		}
		known.await(ctx, 10+rand.IntN(100))
		child.Kill() // while requests are under way
		stop()
		clients.Wait()
	}
	child := childtest.Start(t, servedVariable+"="+dsn)
	s := &served{tb: t, url: child.Line()}
	activity := s.machines()["activity"]
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() { s.works(ctx, ctx, activity, known) })
	}
	for arn := range known.started {
		s.checkEnd(arn, known)
	}
	stop()
	workers.Wait()
	t.Logf("%d executions started, %d stopped, %d tasks done", len(known.started), len(known.stopped), len(known.outputs))
	if len(known.started) == 0 || len(known.outputs) == 0 {
		t.Error("the clients have done nothing")
	}
}

// machines creates machines, and returns their ARNs, and that of an activity.
func (s *served) machines() map[string]string {
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	return map[string]string{
		"activity": activity, "pass": s.create("Pass", passing), "wait": s.create("Wait", waiting),
		"work": s.create("Work", `{"StartAt": "First", "States": {"First": {"Type": "Pass", "Next": "Work"},
			"Work": {"Type": "Task", "Resource": "`+activity+`", "Next": "Last"}, "Last": {"Type": "Wait", "Seconds": 1, "End": true}}}`),
	}
}

// starts begins executions, and stops some of them, until ctx ends.
func (s *served) starts(ctx context.Context, machines map[string]string, prefix string, known *acknowledged) {
	for i := 0; ctx.Err() == nil; i++ {
		kind := [...]string{"pass", "work", "wait"}[i%3]
		name := prefix + strconv.Itoa(i)
		out, err := s.try(ctx, "StartExecution", object{"stateMachineArn": machines[kind], "name": name, "input": `"` + name + `"`})
		if err != nil {
			continue
		}
		arn := out["executionArn"].(string)
		known.mu.Lock()
		known.started[arn] = true
		known.mu.Unlock()
		tell(known.start)
		if kind != "wait" {
			continue
		}
		if _, err := s.try(ctx, "StopExecution", object{"executionArn": arn, "error": name}); err == nil {
			known.mu.Lock()
			known.stopped[arn] = true
			known.mu.Unlock()
		}
	}
}

// works does tasks until ctx ends, with requests that may last longer. If the answer to a result was lost, a worker sends
// the result again.
func (s *served) works(ctx, requests context.Context, activity string, known *acknowledged) {
	for ctx.Err() == nil {
		done, ok := known.next()
		if !ok {
			task, err := s.try(requests, "GetActivityTask", object{"activityArn": activity, "workerName": "w"})
			if err != nil || task["taskToken"] == nil {
				continue
			}
			name := strings.Trim(task["input"].(string), `"`)
			done = result{task["taskToken"].(string), name, `"` + name + ` ` + strconv.Itoa(rand.Int()) + `"`}
		}
		_, err := s.try(requests, "SendTaskSuccess", object{"taskToken": done.token, "output": done.output})
		if first := known.sent(done, err); first != "" {
			s.tb.Errorf("the task of %s was done twice: %s, %s", done.name, first, done.output)
		}
	}
}

// next returns a result that must be sent again.
func (k *acknowledged) next() (r result, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.unsure) == 0 {
		return r, false
	}
	r = k.unsure[0]
	k.unsure = k.unsure[1:]
	return r, true
}

// sent notes the answer to a result. If another result of the task was accepted before, it returns that.
func (k *acknowledged) sent(r result, err error) (first string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, refused := errors.AsType[*apiError](err)
	switch {
	case err == nil:
		first, k.outputs[r.name] = k.outputs[r.name], r.output
		tell(k.done)
	case !refused: // else the server had accepted the result, or has given the task to another worker
		k.unsure = append(k.unsure, r)
	}
	return first
}

// tell sends, unless a value waits already.
func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// await waits until the given number of executions have started, and a task was done. Both take as long as the machine
// needs.
func (k *acknowledged) await(ctx context.Context, starts int) {
	for range starts {
		select {
		case <-k.start:
		case <-ctx.Done():
			return
		}
	}
	select {
	case <-k.done:
	case <-ctx.Done():
	}
}

// checkEnd waits for the end of an execution, and compares it with the acknowledged results.
func (s *served) checkEnd(arn string, known *acknowledged) {
	s.tb.Helper()
	name := arn[strings.LastIndexByte(arn, ':')+1:]
	want := "SUCCEEDED"
	known.mu.Lock()
	stopped := known.stopped[arn]
	known.mu.Unlock()
	if strings.Contains(arn, ":Wait:") {
		want = "ABORTED"
		if x := s.call("DescribeExecution", object{"executionArn": arn}); !stopped && x["status"] == "RUNNING" {
			s.call("StopExecution", object{"executionArn": arn, "error": name})
		}
	}
	x := s.execution(arn)
	known.mu.Lock()
	output := known.outputs[name]
	known.mu.Unlock()
	if x["status"] != want || output != "" && x["output"] != output || stopped && x["error"] != name {
		s.tb.Errorf("%v; want %s %s", x, want, output)
	}
	events, _ := s.pages("GetExecutionHistory", "events", object{"executionArn": arn})
	entered := map[any]int{}
	for i, e := range events {
		if e["id"] != float64(i+1) {
			s.tb.Fatalf("%s: event %d is %v", arn, i+1, e)
		}
		if state, ok := e["stateEnteredEventDetails"].(object); ok {
			if entered[state["name"]]++; entered[state["name"]] > 1 {
				s.tb.Errorf("%s: %v was entered twice", arn, state["name"])
			}
		}
	}
}
