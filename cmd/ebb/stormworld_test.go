package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A jsonObject is what requests and answers are.
type jsonObject = map[string]any

// A stormWorld is a database, two pairs of processes on it that are killed and started again, and workers.
type stormWorld struct {
	*testing.T
	*victim

	dsn     string
	store   *sqlstore.Store
	engines map[string]*engine.Engine // of the flows in Go; they only create runs
	pairs   [2]stormPair
	sink    *httptest.Server // is called with tokens
	plays   sync.Map         // by name
}

// A stormPair is `ebb serve` and a program with flows in Go. Its address stays when it is killed and started again.
type stormPair struct {
	listen  string
	members []*exec.Cmd
	runs    atomic.Bool
}

func newStormWorld(t *testing.T, dsn string) *stormWorld {
	t.Helper()
	w := &stormWorld{T: t, victim: newVictim(t, "go:storm"), dsn: dsn, engines: map[string]*engine.Engine{}}
	if dsn == "" {
		w.dsn = "sqlite:" + w.db
	}
	var err error
	if w.store, err = sqlstore.Open(t.Context(), strings.TrimPrefix(w.dsn, "sqlite:")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.sink = httptest.NewServer(http.HandlerFunc(w.call))
	t.Cleanup(w.sink.Close)
	for i := range w.pairs {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		w.pairs[i].listen = free.Addr().String()
		_ = free.Close() // the server takes the port
		t.Cleanup(w.pairs[i].kill)
	}
	return w
}

// process returns this test's binary as a process of its own.
func (w *stormWorld) process(args ...string) *exec.Cmd {
	cmd := w.victim.process(args[0], "EBB_LOG_LEVEL=off", args[1:]...)
	cmd.Env = append(cmd.Env, "EBB_DSN="+w.dsn)
	return cmd
}

// start starts a pair of processes, unless it runs.
func (w *stormWorld) start(i int) {
	w.Helper()
	p := &w.pairs[i]
	if p.runs.Load() {
		return
	}
	for _, args := range [][]string{
		{"ebb", "serve", "--listen", p.listen, "--swf-undo", "undo.txt", "--task", "arn:aws:states:::sqs:sendMessage=" + w.sink.URL, "events.sm4c.json"},
		{"stormserver"},
	} {
		cmd := w.process(args...)
		said, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			w.Fatal(err)
		}
		p.members = append(p.members, cmd)
		lines := bufio.NewReader(said)
		for line := ""; !strings.Contains(line, "serving"); { // it may warn of one that died
			if line, err = lines.ReadString('\n'); err != nil {
				w.Fatalf("%v said %q at last (%v)", args, line, err)
			}
		}
		go io.Copy(io.Discard, lines) //nolint:errcheck // it ends with the process
	}
	p.runs.Store(true)
}

func (p *stormPair) kill() {
	p.runs.Store(false)
	for _, cmd := range p.members {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	p.members = nil
}

// alive returns a pair that runs, if one does.
func (w *stormWorld) alive() int {
	i := rand.IntN(len(w.pairs))
	if !w.pairs[i].runs.Load() {
		i = 1 - i
	}
	return i
}

// An answer is what a door says about a thing or a command.
type answer string

const (
	lost answer = "" // there was none, so either may have happened
	yes  answer = "yes"
	no   answer = "no"
)

// ask sends a request to a pair, with headers in turn as name and value.
func (w *stormWorld) ask(ctx context.Context, pair int, path string, body jsonObject, headers ...string) (answer, jsonObject) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+w.pairs[pair].listen+path, strings.NewReader(object(w.T, body)))
	if err != nil {
		w.Error(err)
		return lost, nil
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Client{Timeout: stormPatience}).Do(r)
	if err != nil {
		return lost, nil
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusInternalServerError {
		return lost, nil
	}
	out := jsonObject{}
	if err := json.Unmarshal(text, &out); err != nil && len(bytes.TrimSpace(text)) > 0 {
		w.Errorf("%s was answered %d %s", path, res.StatusCode, text)
	}
	if res.StatusCode >= http.StatusBadRequest {
		return no, out
	}
	return yes, out
}

// aws calls an operation, such as AWSStepFunctions.StopExecution.
func (w *stormWorld) aws(ctx context.Context, pair int, operation string, body jsonObject) (answer, jsonObject) {
	return w.ask(ctx, pair, "/", body, "Content-Type", "application/x-amz-json-1.0", "X-Amz-Target", operation)
}

// must repeats a request until it is answered with yes.
func (w *stormWorld) must(request func(pair int) (answer, jsonObject)) (out jsonObject) {
	w.Helper()
	w.until("a yes", func() bool {
		var a answer
		if a, out = request(w.alive()); a == no {
			w.Error("refused: ", out)
		}
		return a != lost
	})
	return out
}

// until waits for something.
func (w *stormWorld) until(what string, holds func() bool) bool {
	w.Helper()
	held := happens(stormPatience, holds)
	if !held {
		w.Error("waited in vain: ", what)
	}
	return held
}

func happens(patience time.Duration, holds func() bool) bool {
	for began := time.Now(); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			return false
		}
	}
	return true
}

// stormCommands bounds how many processes of the command run at once.
var stormCommands = make(chan struct{}, 4)

// ebb runs the command.
func (w *stormWorld) ebb(args ...string) answer {
	stormCommands <- struct{}{}
	defer func() { <-stormCommands }()
	cmd := w.process(append([]string{"ebb"}, args...)...)
	over := time.AfterFunc(stormPatience, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer over.Stop()
	out, err := cmd.CombinedOutput()
	failed := new(exec.ExitError)
	switch {
	case err == nil:
		return yes
	case !errors.As(err, &failed), failed.ExitCode() == exit.NotFound, failed.ExitCode() < 0:
		w.Errorf("%q: %v: %s", args, err, out)
		return lost
	case failed.ExitCode() == exit.Unreachable: // PostgreSQL has no connection left for it
		return lost
	case failed.ExitCode() == exit.Usage:
		return no
	default:
		return yes // it says how the run came to rest
	}
}

// A taking is the work that a worker took: id names the taking, token the attempt.
type taking struct{ id, token, run string } // run may be ""

// serve lets workers take work until the context ends: for the plays, and to undo what these did.
func (w *stormWorld) serve(ctx context.Context, workers *sync.WaitGroup) {
	poll := func(key string, took func(context.Context, jsonObject), request func(pair int) (answer, jsonObject)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				a, task := request(w.alive())
				if id, _ := task[key].(string); a == yes && id != "" {
					took(ctx, task)
				} else if a != yes {
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	const long, short = 600, 3 // seconds: what a killed server gave to a worker that undoes is given again soon
	for lease, kinds := range map[float64][]string{long: {"book", "side"}, short: {"unbook"}} {
		for _, kind := range kinds {
			kinds = append(kinds, stormARN+"activity:"+kind)
		}
		for range 2 {
			poll("id", w.took, func(pair int) (answer, jsonObject) {
				return w.ask(ctx, pair, "/tasks/poll", jsonObject{"kinds": kinds, "worker": "storm", "wait_seconds": 2, "lease_seconds": lease})
			})
		}
	}
	for kind, took := range map[string]func(context.Context, jsonObject){"Decision": w.decide, "Activity": w.tookActivity} {
		poll("taskToken", took, func(pair int) (answer, jsonObject) {
			return w.aws(ctx, pair, "SimpleWorkflowService.PollFor"+kind+"Task", jsonObject{"domain": "storm", "taskList": jsonObject{"name": "storm"}})
		})
	}
}

// took gives work to its play, or notes what an undo is told, and does it.
func (w *stormWorld) took(ctx context.Context, task jsonObject) {
	id, run := task["id"].(string), task["run"].(string)
	text := object(w.T, task) // names the play somewhere, if it is of a child run
	found, _ := w.plays.Load(stormName.FindString(text))
	p, _ := found.(*play)
	if p == nil {
		return
	}
	of := taking{id, id[:strings.LastIndexByte(id, '.')], run}
	switch kind := task["kind"].(string); {
	case strings.HasSuffix(kind, "unbook"):
		revert := task["revert"].(jsonObject)
		p.tell(revert["outcome"], revert["result"], revert["failure"])
		w.ask(ctx, w.alive(), "/tasks/"+id+"/complete", jsonObject{})
	case strings.HasSuffix(kind, "side"):
		p.side <- of
	default:
		p.book <- of
	}
}

// tookActivity is took for an activity of SWF.
func (w *stormWorld) tookActivity(ctx context.Context, task jsonObject) {
	name, undoes := strings.CutSuffix(task["workflowExecution"].(jsonObject)["workflowId"].(string), ":undo")
	found, _ := w.plays.Load(name)
	p, _ := found.(*play)
	token := task["taskToken"].(string)
	switch {
	case p == nil:
	case undoes:
		var told jsonObject
		if err := json.Unmarshal([]byte(task["input"].(string)), &told); err != nil {
			w.Error(err)
		}
		p.tell(told["outcome"], told["result"], nil)
		w.aws(ctx, w.alive(), "SimpleWorkflowService.RespondActivityTaskCompleted", jsonObject{"taskToken": token})
	default:
		p.book <- taking{token, token, ""}
	}
}

// decide schedules the activity of an execution that has just started.
func (w *stormWorld) decide(ctx context.Context, task jsonObject) {
	decisions := []jsonObject{}
	if len(task["events"].([]any)) == 3 {
		decisions = append(decisions, jsonObject{"decisionType": "ScheduleActivityTask", "scheduleActivityTaskDecisionAttributes": jsonObject{
			"activityId": "book", "activityType": jsonObject{"name": "book", "version": "1"},
		}})
	}
	w.aws(ctx, w.alive(), "SimpleWorkflowService.RespondDecisionTaskCompleted", jsonObject{"taskToken": task["taskToken"], "decisions": decisions})
}

// call gives a token to its play. The answer may come after the token was used.
func (w *stormWorld) call(_ http.ResponseWriter, r *http.Request) {
	var in struct{ Token, Play string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.Error(err)
	}
	found, _ := w.plays.Load(in.Play)
	p, _ := found.(*play)
	if p == nil {
		return
	}
	select {
	case p.book <- taking{in.Token, in.Token, ""}:
	default: // it is the call of a process that was killed, again
		return
	}
	if p.early {
		select {
		case <-p.done:
		case <-r.Context().Done():
		}
	}
}
