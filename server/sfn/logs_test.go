package sfn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage"
)

// A logFile is a log group in memory.
type logFile struct {
	mu   sync.Mutex
	text bytes.Buffer
	full bool // writes fail
}

func (f *logFile) Write(text []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return 0, errors.New("no space")
	}
	return f.text.Write(text)
}

// take returns the types and the texts of the lines, and empties the file.
func (f *logFile) take(t *testing.T) (types, lines []string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range strings.Lines(f.text.String()) {
		var l struct{ ID, Type string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		types, lines = append(types, l.ID+" "+l.Type), append(lines, strings.TrimSpace(line))
	}
	f.text.Reset()
	return types, lines
}

// loggingMachine creates a machine that fails its first try, if its input says so.
func loggingMachine(t *testing.T, w *world, name, level string, data bool) string {
	t.Helper()
	var created struct{ StateMachineArn string }
	w.must(t, "CreateStateMachine", object{
		"name": name, "roleArn": role, "definition": `{"StartAt": "C", "States": {
			"C": {"Type": "Choice", "Choices": [{"Variable": "$.fail", "BooleanEquals": true, "Next": "F"}], "Default": "P"},
			"F": {"Type": "Fail", "Error": "E", "Cause": "<&>"}, "P": {"Type": "Pass", "End": true}}}`,
		"loggingConfiguration": object{
			"level": level, "includeExecutionData": data,
			"destinations": []object{{"cloudWatchLogsLogGroup": object{"logGroupArn": "arn:aws:logs:us-east-1:000000000000:log-group:g:*"}}},
		},
	}, &created)
	return created.StateMachineArn
}

// TestLogs writes the events of executions into a log group, as far as the level of the machine includes them.
func TestLogs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := &logFile{}
		w := newWorld(t, sfn.Config{LogGroups: map[string]io.Writer{"g": file}})
		start := func(machine, name, input string) {
			w.must(t, "StartExecution", object{"stateMachineArn": machine, "name": name, "input": input}, nil)
			synctest.Wait()
		}
		all, bad, fatal := loggingMachine(t, w, "all", "ALL", true), loggingMachine(t, w, "bad", "ERROR", false),
			loggingMachine(t, w, "fatal", "FATAL", true)
		began := time.Now()
		start(all, "x", `{"fail":false}`)
		types, lines := file.take(t)
		if got := strings.Join(types, ", "); got != "1 ExecutionStarted, 2 ChoiceStateEntered, 3 ChoiceStateExited, "+
			"4 PassStateEntered, 5 PassStateExited, 6 ExecutionSucceeded" {
			t.Fatal(got)
		}
		want := fmt.Sprintf(`{"id":"6","type":"ExecutionSucceeded","details":{"output":"{\"fail\":false}","outputDetails":{"truncated":false}},`+
			`"previous_event_id":"5","event_timestamp":"%d","execution_arn":"arn:aws:states:us-east-1:000000000000:execution:all:x","redrive_count":"0"}`,
			began.UnixMilli())
		if lines[5] != want {
			t.Errorf("%s\nwant %s", lines[5], want)
		}
		start(bad, "x", `{"fail":true}`)
		types, lines = file.take(t)
		if got := strings.Join(types, ", "); got != "4 FailStateEntered, 5 ExecutionFailed" {
			t.Error(got)
		}
		if strings.Contains(strings.Join(lines, ""), `"input"`) || !strings.Contains(lines[1], `"cause":"<&>"`) {
			t.Error(lines)
		}
		start(fatal, "x", `{"fail":true}`)
		if types, _ = file.take(t); strings.Join(types, ", ") != "5 ExecutionFailed" {
			t.Error(types)
		}
		w.refuses(t, "StartExecution", object{"stateMachineArn": fatal, "name": "x", "input": `{}`}, "ExecutionAlreadyExists")
		time.Sleep(10 * time.Minute) // another process would write missing lines
		if types, _ = file.take(t); len(types) > 0 {
			t.Errorf("written twice: %v", types)
		}
		w.must(t, "RedriveExecution", object{"executionArn": strings.Replace(fatal, "stateMachine", "execution", 1) + ":x"}, nil)
		synctest.Wait()
		types, lines = file.take(t)
		if strings.Join(types, ", ") != "7 ExecutionFailed" || !strings.Contains(lines[0], `"redrive_count":"1"`) {
			t.Error(types, lines)
		}
	})
}

// TestLogsAfterDeath has another process write the lines that the first one has not written, and none twice.
func TestLogsAfterDeath(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dead, file := &logFile{}, &logFile{}
		w := newWorld(t, sfn.Config{LogGroups: map[string]io.Writer{"g": dead}})
		w.logFailed = func(error) {} // its file will be full
		machine := loggingMachine(t, w, "all", "ALL", true)
		w.must(t, "StartExecution", object{"stateMachineArn": machine, "name": "x", "input": `{}`}, nil)
		synctest.Wait()
		dead.mu.Lock()
		dead.full = true
		dead.mu.Unlock()
		w.must(t, "StartExecution", object{"stateMachineArn": machine, "name": "y", "input": `{}`}, nil)
		synctest.Wait()
		other, err := sfn.New(sfn.Config{Store: w.store, LogGroups: map[string]io.Writer{"g": file}})
		if err != nil {
			t.Fatal(err)
		}
		go other.Log(t.Context(), func(err error) { t.Error(err) })
		time.Sleep(5 * time.Minute)
		types, lines := file.take(t)
		if len(types) == 0 || types[0] != "1 ExecutionStarted" || strings.Contains(strings.Join(lines, ""), "all:x") {
			t.Error(types, lines)
		}
	})
}

// A slowFile is a log group whose first write waits until it is released.
type slowFile struct {
	logFile

	once           sync.Once
	begun, release chan struct{}
}

func (f *slowFile) Write(text []byte) (int, error) {
	f.once.Do(func() { close(f.begun); <-f.release })
	return f.logFile.Write(text)
}

// TestLogsAtAStop stops a server while it writes the lines of one of two executions: it writes all lines of both.
func TestLogsAtAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full, slow := &logFile{full: true}, &slowFile{begun: make(chan struct{}), release: make(chan struct{})}
		w := newWorld(t, sfn.Config{LogGroups: map[string]io.Writer{"g": full}})
		w.logFailed = func(error) {}
		machine := loggingMachine(t, w, "all", "ALL", true)
		for _, name := range []string{"x", "y"} {
			w.must(t, "StartExecution", object{"stateMachineArn": machine, "name": name, "input": `{}`}, nil)
		}
		synctest.Wait()
		other, err := sfn.New(sfn.Config{Store: w.store, LogGroups: map[string]io.Writer{"g": slow}})
		if err != nil {
			t.Fatal(err)
		}
		runs, err := w.store.Runs(t.Context(), storage.RunQuery{Limit: 2})
		if err != nil || len(runs) != 2 {
			t.Fatal(len(runs), err)
		}
		for i := range runs {
			other.Observe(engine.Event{Kind: engine.FlowChanged, Run: runs[i].ID})
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			other.Log(ctx, func(err error) { t.Error(err) })
		}()
		<-slow.begun
		stop()
		close(slow.release)
		<-ended
		if types, lines := slow.take(t); strings.Count(strings.Join(types, " "), "ExecutionFailed") != 2 {
			t.Error(types, lines)
		}
	})
}
