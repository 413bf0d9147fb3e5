package sfn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestRedriveProperty draws machines and lets each of their tasks fail. Then a client redrives the execution through the
// API, and the server dies after each of its commits. The output is that of an execution whose tasks succeeded at once,
// nothing that had succeeded is done again, and the history has no gap and one redrive.
//
// Guarantee (G2): A redrive through the AWS API repeats only what had not succeeded, though the server may die after
// any commit.
func TestRedriveProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawnMachine{t: rt}
		text := "{" + d.level(2) + "}"
		if d.tasks == 0 {
			text, d.tasks = `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "`+taskARN(0)+`", "End": true}}}`, 1
		}
		play := func(broken, deathAt int) *redrivePlay {
			p := &redrivePlay{machine: text, broken: broken, deathAt: deathAt, done: map[string]bool{}}
			synctest.Test(t, p.run)
			if p.failure != "" {
				rt.Fatalf("%s\ntask %d fails, death after %d commits: %s", text, broken, deathAt, p.failure)
			}
			return p
		}
		want := play(-1, never).output
		broken := rapid.IntRange(0, d.tasks-1).Draw(rt, "broken")
		for deathAt := 0; ; deathAt++ {
			p := play(broken, deathAt)
			if p.output != want {
				rt.Fatalf("%s\ntask %d fails, death after %d commits: %s, want %s", text, broken, deathAt, p.output, want)
			}
			if !p.died {
				return
			}
		}
	})
}

// never is a number of commits that no process makes.
const never = 1 << 30

func taskARN(n int) string {
	return fmt.Sprintf("arn:aws:lambda:us-east-1:000000000000:function:t%d", n)
}

// A drawnMachine draws levels of states. Some states have levels inside.
type drawnMachine struct {
	t            *rapid.T
	tasks, names int
}

func (d *drawnMachine) level(depth int) string {
	n := rapid.IntRange(1, 2).Draw(d.t, "states")
	first := d.names
	d.names += n
	var all []string
	for i := range n {
		next := `"End": true`
		if i+1 < n {
			next = fmt.Sprintf(`"Next": "S%d"`, first+i+1)
		}
		all = append(all, fmt.Sprintf(`"S%d": {%s, %s}`, first+i, d.state(depth), next))
	}
	return fmt.Sprintf(`"StartAt": "S%d", "States": {%s}`, first, strings.Join(all, ", "))
}

func (d *drawnMachine) state(depth int) string {
	kinds := []string{"Task", "Task", "Pass"}
	if depth > 0 {
		kinds = append(kinds, "Parallel", "Map", "Distributed")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(d.t, "kind"); kind {
	case "Task":
		d.tasks++
		more := rapid.SampledFrom([]string{
			"", `, "ResultPath": null`, `, "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}]`,
		}).Draw(d.t, "more")
		return fmt.Sprintf(`"Type": "Task", "Resource": "%s"%s`, taskARN(d.tasks-1), more)
	case "Parallel":
		return `"Type": "Parallel", "Branches": [{` + d.level(depth-1) + `}, {` + d.level(depth-1) + `}]`
	case "Map":
		return `"Type": "Map", "ItemsPath": "$$.Execution.Input.items", "MaxConcurrency": 1, "ItemProcessor": {` + d.level(depth-1) + `}`
	case "Distributed":
		return fmt.Sprintf(`"Type": "Map", "ItemsPath": "$$.Execution.Input.items", "MaxConcurrency": 2, "ItemSelector": {"items": [1]},
			"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": %q}, %s}`,
			rapid.SampledFrom([]string{"STANDARD", "EXPRESS"}).Draw(d.t, "type"), d.level(0))
	default:
		return `"Type": "Pass", "Parameters": {"x.$": "$"}`
	}
}

// A redrivePlay runs an execution to its failure, redrives it, and lets the server that redrives it die.
type redrivePlay struct {
	machine string
	broken  int // the task that fails until the redrive; -1 for none
	deathAt int // commits of the process that redrives

	records *memstore.Store
	mu      sync.Mutex
	fixed   bool
	done    map[string]bool // calls that have succeeded

	died            bool
	output, failure string
}

func (p *redrivePlay) failf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure == "" {
		p.failure = fmt.Sprintf(format, args...)
	}
}

// Task returns the body of a function.
func (p *redrivePlay) Task(name string) (atom.Body, error) {
	for n := range 50 {
		if name == taskARN(n) {
			return brittle{p, n}, nil
		}
	}
	return nil, fmt.Errorf("there is no %s", name)
}

type brittle struct {
	of *redrivePlay
	n  int
}

func (brittle) Reverts() bool { return false }

func (brittle) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

// Execute fails while the task is broken. Its result contains its input.
func (b brittle) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	p, call := b.of, atom.CurrentCall(ctx)
	key := call.Run + "/" + call.Path
	a, err := p.records.Atom(ctx, call.Run, call.Path)
	recorded := err == nil && a.State == states.TaskSuccess
	p.mu.Lock()
	again, breaks := p.done[key], b.n == p.broken && !p.fixed
	p.mu.Unlock()
	switch {
	case again && recorded:
		p.failf("%s was called again though it had succeeded", key)
	case breaks:
		return nil, atom.Errorf("Broken", "task %d", b.n)
	}
	p.mu.Lock()
	p.done[key] = true
	p.mu.Unlock()
	return atom.Encode(map[string]any{"did": b.n, "of": in.Input()})
}

// run plays one process after the other.
func (p *redrivePlay) run(t *testing.T) {
	p.records = memstore.New()
	for process := 0; p.output == "" && p.failure == "" && process < 3; process++ {
		commits := never
		if process == 1 {
			commits = p.deathAt
		}
		p.live(t, commits, process)
	}
	if p.output == "" {
		p.failf("it does not end")
	}
	if err := p.records.Close(); err != nil {
		t.Error(err)
	}
}

// live lets one process serve the client until the execution has failed, has succeeded, or the process has died.
func (p *redrivePlay) live(t *testing.T, commits, process int) {
	own := p.records.Join()
	var left atomic.Int64
	left.Store(int64(commits))
	store := faultstore.New(own, func(c faultstore.Call) (f faultstore.Fault) {
		if slices.Contains([]string{"Commit", "WriteRecords", "Send"}, c.Method) && left.Add(-1) < 0 {
			f.Err = storage.ErrClosed
		}
		return f
	})
	ctx, stop := context.WithCancel(t.Context())
	var c *conductor.Conductor
	api, err := sfn.New(sfn.Config{
		Store: store, Stopping: ctx.Done(),
		Start: func(ctx context.Context, run, definition string, opts ...engine.RunOption) error {
			return c.Start(ctx, run, conductor.Ref{Definition: definition}, opts...)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	catalog := conductor.NewCatalog().Language("asl", compiled).Complete(api.Complete)
	if c, err = conductor.New(jobs.New(store, jobs.Policy{}), catalog, engine.WithDrain(0), engine.WithEngine(engine.WithTasks(p))); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- c.Run(ctx) }()
	client := &redriveClient{play: p, handler: aws.New(aws.Options{Region: api.Region()}, api.Service()), ctx: ctx}
	client.work(process, func() bool { return left.Load() < 0 })
	if left.Load() < 0 {
		p.died = true
		own.Die()
	}
	stop()
	if err := <-over; err != nil && !p.died && !errors.Is(err, storage.ErrClosed) {
		p.failf("%v", err)
	}
	if !p.died || process > 1 {
		if err := own.Close(); err != nil && !errors.Is(err, storage.ErrClosed) {
			t.Error(err)
		}
	}
}

// A redriveClient calls the API of one process.
type redriveClient struct {
	play    *redrivePlay
	handler http.Handler
	ctx     context.Context //nolint:containedctx // of the process
}

const redrivenARN = "arn:aws:states:us-east-1:000000000000:execution:m:x"

// try makes a call.
func (c *redriveClient) try(op string, params, into any) (code string) {
	body, err := json.Marshal(params)
	if err != nil {
		return err.Error()
	}
	r := httptest.NewRequestWithContext(c.ctx, http.MethodPost, "http://localhost/", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+op)
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	if w.Code == http.StatusOK {
		if into != nil {
			if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
				return err.Error()
			}
		}
		return ""
	}
	var refused apiError
	_ = json.Unmarshal(w.Body.Bytes(), &refused) // another body has no code
	return refused.Error()
}

// work starts the execution in the first process, and redrives it in the others. It returns when the process is dead,
// or has nothing more to do.
func (c *redriveClient) work(process int, dead func() bool) {
	p := c.play
	if process == 0 {
		steps := []struct {
			op     string
			params object
		}{
			{"CreateStateMachine", object{"name": "m", "definition": p.machine, "roleArn": role}},
			{"StartExecution", object{"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:m", "name": "x", "input": `{"items":[1,2]}`}},
		}
		for _, s := range steps {
			if code := c.try(s.op, s.params, nil); code != "" {
				p.failf("%s: %s", s.op, code)
				return
			}
		}
	} else {
		p.mu.Lock()
		p.fixed = true
		p.mu.Unlock()
	}
	for range 1000 {
		synctest.Wait()
		if dead() {
			return
		}
		var d struct{ Status, Output, RedriveStatus, RedriveStatusReason string }
		if code := c.try("DescribeExecution", object{"executionArn": redrivenARN}, &d); code != "" {
			if !dead() {
				p.failf("DescribeExecution: %s", code)
			}
			return
		}
		switch {
		case d.Status == "SUCCEEDED":
			c.history()
			p.output = d.Output
			return
		case d.Status == "FAILED" && process == 0:
			return
		case d.Status == "FAILED":
			code := c.try("RedriveExecution", object{"executionArn": redrivenARN, "clientToken": "once"}, nil)
			if code != "" && !dead() && !strings.Contains(code, "ExecutionNotRedrivable") {
				p.failf("RedriveExecution: %s", code)
				return
			}
		}
		time.Sleep(time.Second) // virtual
	}
	p.failf("the execution does not end")
}

// history checks the history of the execution.
func (c *redriveClient) history() {
	var h struct {
		Events []struct {
			ID   int
			Prev int `json:"previousEventId"`
			Type string
		}
	}
	if code := c.try("GetExecutionHistory", object{"executionArn": redrivenARN, "maxResults": 1000}, &h); code != "" {
		c.play.failf("GetExecutionHistory: %s", code)
		return
	}
	redrives := 0
	for i, e := range h.Events {
		if e.ID != i+1 || e.Prev >= e.ID {
			c.play.failf("event %d is %+v", i+1, e)
		}
		if e.Type == "ExecutionRedriven" {
			redrives++
		}
	}
	want := 1
	if c.play.broken < 0 {
		want = 0
	}
	if redrives != want {
		c.play.failf("%d redrives", redrives)
	}
}
