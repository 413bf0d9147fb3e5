package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// stormLimit is the time limit of the runs that their own clock ends, and of the silence of a worker.
const stormLimit = 3 * time.Second

const stormARN = "arn:aws:states:us-east-1:000000000000:"

// stormFlow books something, waits for a signal, and does a last step. Beside it is work that may fail.
func stormFlow(name string) *flow.UnorderedFlow {
	type booking struct{ Seat int }
	return flow.Unordered(name, flow.Linear("line",
		atom.RemotePair[struct{}, booking]("Book", "book", "unbook", atom.As("booking")),
		atom.Awaits[int]("Hold", "paid", atom.Deferral{}, atom.As("paid")),
		atom.Remote[struct{}, struct{}]("Last", "last"),
	), atom.Remote[struct{}, struct{}]("Side", "side"))
}

// stormFlows are the flows in Go.
func stormFlows() map[string]flow.Node {
	return map[string]flow.Node{"go": stormFlow("go"), "go-timeout": stormFlow("go-timeout").WithDeadline(stormLimit)}
}

// stormServer is a program that serves the flows in Go until it is killed.
func stormServer() {
	ctx, catalog := context.Background(), conductor.NewCatalog()
	for _, f := range stormFlows() {
		catalog.Add(1, f)
	}
	store, err := sqlstore.Open(ctx, strings.TrimPrefix(os.Getenv("EBB_DSN"), "sqlite:"))
	if err == nil {
		var c *conductor.Conductor
		if c, err = conductor.New(jobs.New(store, jobs.Policy{}), catalog); err == nil {
			fmt.Fprintln(os.Stderr, "serving")
			err = c.Run(ctx)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// stormMachines returns machines whose branches are like those of stormFlow. The task is an activity, also in the items
// of a Map, or a call with a token.
func stormMachines() map[string]jsonObject {
	limit := int(stormLimit.Seconds())
	machine := func(book jsonObject, more ...any) jsonObject {
		state := jsonObject{"Type": "Task", "Resource": stormARN + "activity:book", "Revert": stormARN + "activity:unbook", "TimeoutSeconds": 600, "Next": "Hold"}
		maps.Copy(state, book)
		line := jsonObject{"StartAt": "Book", "States": jsonObject{"Book": state, "Hold": jsonObject{"Type": "Wait", "Seconds": 3600, "End": true}}}
		all := jsonObject{"Type": "Parallel", "End": true, "Branches": []jsonObject{
			line, {"StartAt": "Side", "States": jsonObject{"Side": jsonObject{"Type": "Task", "Resource": stormARN + "activity:side", "End": true}}},
		}}
		if len(more) > 0 && more[0] == "Map" {
			line["ProcessorConfig"] = jsonObject{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
			all, more = jsonObject{"Type": "Map", "End": true, "ItemProcessor": line, "Label": "Each"}, more[1:]
		}
		m := jsonObject{"StartAt": "All", "States": jsonObject{"All": all}}
		if len(more) > 0 {
			m["TimeoutSeconds"] = limit
		}
		return m
	}
	call := jsonObject{
		"Resource":   "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
		"Parameters": jsonObject{"Token.$": "$$.Task.Token", "Play.$": "$$.Execution.Name"},
	}
	return map[string]jsonObject{
		"machine": machine(nil), "machine-timeout": machine(nil, limit), "machine-silence": machine(jsonObject{"HeartbeatSeconds": limit}),
		"call": machine(call), "call-timeout": machine(call, limit), "map": machine(nil, "Map"), "map-timeout": machine(nil, "Map", limit),
	}
}

// stormEvents is a machine that books something, waits for an event, and does a last step.
const stormEvents = `{"name": "events", "version": "1",
"events": [{"name": "paid", "type": "storm.paid"}],
"functions": [{"name": "book", "type": "task", "operation": "worker:book"}, {"name": "unbook", "type": "task", "operation": "worker:unbook"},
  {"name": "last", "type": "task", "operation": "worker:last"}],
"states": [
 {"name": "First", "start": true, "enterAction": {"type": "invokeFunction", "name": "Book", "functionName": "book", "waitForCompletion": true,
   "revert": {"functionName": "unbook", "arguments": {"booking": "${ $value }"}}},
  "transitions": [{"nextState": "Got", "eventGroups": [{"events": ["paid"], "resultHandler": "${ .paid = $value.data }"}]}]},
 {"name": "Got", "enterAction": {"type": "invokeFunction", "name": "Last", "functionName": "last", "waitForCompletion": true}}
]}`

// prepare starts a pair of processes, and creates what the plays use.
func (w *stormWorld) prepare(ctx context.Context) {
	w.Helper()
	for name, text := range map[string]string{"undo.txt": "book/1 = unbook/1\n", "events.sm4c.json": stormEvents} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			w.Fatal(err)
		}
	}
	for name, f := range stormFlows() {
		eng, err := engine.New(f, w.store)
		if err != nil {
			w.Fatal(err)
		}
		w.engines[name] = eng
	}
	w.start(0)
	create := func(operation string, body jsonObject) {
		w.must(func(pair int) (answer, jsonObject) { return w.aws(ctx, pair, operation, body) })
	}
	for _, name := range []string{"book", "unbook", "side"} {
		create("AWSStepFunctions.CreateActivity", jsonObject{"name": name})
	}
	for name, machine := range stormMachines() {
		create("AWSStepFunctions.CreateStateMachine", jsonObject{"name": name, "roleArn": "arn:aws:iam::000000000000:role/any", "definition": object(w.T, machine)})
	}
	create("SimpleWorkflowService.RegisterDomain", jsonObject{"name": "storm", "workflowExecutionRetentionPeriodInDays": "1"})
	list := jsonObject{"name": "storm"}
	create("SimpleWorkflowService.RegisterWorkflowType", jsonObject{
		"domain": "storm", "name": "storm", "version": "1", "defaultTaskList": list, "defaultTaskStartToCloseTimeout": "5",
		"defaultExecutionStartToCloseTimeout": "3600", "defaultChildPolicy": "TERMINATE",
	})
	// A server that is killed may have given an undo to nobody: it times out, and judge lets it be retried.
	for name, limit := range map[string]string{"book": "NONE", "unbook": "5"} {
		create("SimpleWorkflowService.RegisterActivityType", jsonObject{
			"domain": "storm", "name": name, "version": "1", "defaultTaskList": list, "defaultTaskHeartbeatTimeout": "NONE",
			"defaultTaskStartToCloseTimeout": limit, "defaultTaskScheduleToStartTimeout": "NONE", "defaultTaskScheduleToCloseTimeout": "NONE",
		})
	}
}
