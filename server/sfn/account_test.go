package sfn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage"
)

// definitionOf returns a definition of an operator.
func definitionOf(name, text string) *storage.Definition {
	d := &storage.Definition{Name: name, Language: "asl", Text: []byte(text)}
	d.Hash = backend.DefinitionHash(name, d.Language, d.Text)
	return d
}

// TestAnyAccount gives three clients machines, activities and executions of the same names, each in an account or a
// region of its own. None sees those of another, but all see the machine that the operator has loaded.
func TestAnyAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{AnyAccount: true})
	if _, err := w.api.Load(t.Context(), definitionOf("shared", passing), false); err != nil {
		t.Fatal(err)
	}
	type client struct {
		*world

		where    string // the beginning of its ARNs
		machines []string
		started  string
	}
	clients := []*client{
		{world: w.as("test", "us-east-1"), where: "arn:aws:states:us-east-1:000000000000"},
		{world: w.as("222222222222", "us-east-1"), where: "arn:aws:states:us-east-1:222222222222"},
		{world: w.as("222222222222", "cn-north-1"), where: "arn:aws-cn:states:cn-north-1:222222222222"},
	}
	outer := func(machine string) string {
		return fmt.Sprintf(`{"StartAt": "A", "States": {
  "A": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "Parameters": {"StateMachineArn": %q}, "Next": "B"},
  "B": {"Type": "Map", "ItemsPath": "$$.Execution.Input", "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    "StartAt": "C", "States": {"C": {"Type": "Pass", "End": true}}}, "End": true}}}`, machine)
	}
	for i, c := range clients {
		inner := c.make(t, "CreateStateMachine", object{"name": "inner", "definition": passing, "roleArn": role}).StateMachineArn
		made := c.make(t, "CreateStateMachine", object{"name": "m", "definition": outer(inner), "roleArn": role, "publish": true})
		c.machines = []string{inner, made.StateMachineArn, c.where + ":stateMachine:shared"}
		c.make(t, "CreateStateMachineAlias", object{
			"name": "live", "routingConfiguration": []object{{"stateMachineVersionArn": made.StateMachineVersionArn, "weight": 100}},
		})
		c.must(t, "CreateActivity", object{"name": "pack"}, nil)
		var started struct{ ExecutionArn string }
		c.must(t, "StartExecution", object{"stateMachineArn": made.StateMachineArn + ":live", "name": "monday", "input": "[1]"}, &started)
		if want := c.where + ":execution:m:monday"; started.ExecutionArn != want {
			t.Errorf("client %d: started %s, want %s", i, started.ExecutionArn, want)
		}
		c.started = started.ExecutionArn
		c.must(t, "StartExecution", object{"stateMachineArn": c.machines[2], "name": "monday"}, nil)
	}
	for i, c := range clients {
		var run struct{ Status string }
		for run.Status == "" || run.Status == "RUNNING" {
			c.must(t, "DescribeExecution", object{"executionArn": c.started}, &run)
		}
		if run.Status != "SUCCEEDED" {
			t.Errorf("client %d: the execution is %s", i, run.Status)
		}
		var all struct {
			StateMachines []struct{ StateMachineArn string }
			Activities    []struct{ ActivityArn string }
			Executions    []struct{ ExecutionArn string }
			MapRuns       []struct{ MapRunArn string }
		}
		c.must(t, "ListStateMachines", object{}, &all)
		var machines []string
		for _, m := range all.StateMachines {
			machines = append(machines, m.StateMachineArn)
		}
		slices.Sort(machines)
		if !slices.Equal(machines, c.machines) {
			t.Errorf("client %d has %v, want %v", i, machines, c.machines)
		}
		c.must(t, "ListActivities", object{}, &all)
		if len(all.Activities) != 1 || all.Activities[0].ActivityArn != c.where+":activity:pack" {
			t.Errorf("client %d has %v", i, all.Activities)
		}
		for _, machine := range c.machines { // the nested execution of inner, too
			c.must(t, "ListExecutions", object{"stateMachineArn": machine}, &all)
			if len(all.Executions) != 1 || !strings.HasPrefix(all.Executions[0].ExecutionArn, c.where+":") {
				t.Errorf("client %d: %s has the executions %v", i, machine, all.Executions)
			}
			for _, x := range all.Executions {
				c.must(t, "DescribeExecution", object{"executionArn": x.ExecutionArn}, nil)
			}
		}
		c.must(t, "ListMapRuns", object{"executionArn": c.started}, &all)
		c.must(t, "ListExecutions", object{"mapRunArn": all.MapRuns[0].MapRunArn}, &all)
		c.must(t, "DescribeExecution", object{"executionArn": all.Executions[0].ExecutionArn}, nil)
		other := clients[(i+1)%len(clients)]
		c.refuses(t, "DescribeExecution", object{"executionArn": other.started}, "ExecutionDoesNotExist")
		c.refuses(t, "DescribeStateMachine", object{"stateMachineArn": other.machines[1]}, "StateMachineDoesNotExist")
		why := c.call(t, "DescribeStateMachine", object{"stateMachineArn": other.machines[1]}).Message
		if !strings.Contains(why, "the account is the access key") {
			t.Errorf("the refusal says %s", why)
		}
	}
	clients[1].must(t, "DeleteStateMachine", object{"stateMachineArn": clients[1].machines[1]}, nil)
	for i, c := range clients {
		if found := c.call(t, "DescribeStateMachine", object{"stateMachineArn": c.machines[1]}).Code == ""; found == (i == 1) {
			t.Errorf("client %d finds its machine: %v", i, found)
		}
	}
}

// TestReset begins anew for one account and for all, while executions run. Their names are free again.
func TestReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{AnyAccount: true})
	const waiting = `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 3600, "End": true}}}`
	load := func() {
		if _, err := w.api.Load(t.Context(), definitionOf("shared", waiting), false); err != nil {
			t.Fatal(err)
		}
	}
	load()
	start := func(c *world, arn string) {
		c.make(t, "CreateStateMachine", object{"name": "m", "definition": waiting, "roleArn": role, "publish": true})
		c.must(t, "StartExecution", object{"stateMachineArn": arn + "m", "name": "x"}, nil)
		c.must(t, "StartExecution", object{"stateMachineArn": arn + "shared", "name": "x"}, nil)
		c.must(t, "CreateActivity", object{"name": "pack"}, nil)
	}
	one, two := w.as("111111111111", "us-east-1"), w.as("222222222222", "us-east-1")
	const ofOne, ofTwo = "arn:aws:states:us-east-1:111111111111:stateMachine:", "arn:aws:states:us-east-1:222222222222:stateMachine:"
	start(one, ofOne)
	start(two, ofTwo)
	if n, err := w.api.Reset(t.Context(), "111111111111"); n != 2 || err != nil {
		t.Errorf("the account had %d executions, %v", n, err)
	}
	one.refuses(t, "DescribeStateMachine", object{"stateMachineArn": ofOne + "m"}, "StateMachineDoesNotExist")
	one.refuses(t, "DescribeExecution", object{"executionArn": "arn:aws:states:us-east-1:111111111111:execution:shared:x"}, "ExecutionDoesNotExist")
	two.must(t, "DescribeExecution", object{"executionArn": "arn:aws:states:us-east-1:222222222222:execution:m:x"}, nil)
	one.make(t, "CreateStateMachine", object{"name": "m", "definition": waiting, "roleArn": role})
	one.must(t, "DeleteStateMachine", object{"stateMachineArn": ofOne + "m"}, nil) // the execution of the other account stays
	one.refuses(t, "DescribeStateMachine", object{"stateMachineArn": ofOne + "m"}, "StateMachineDoesNotExist")
	start(one, ofOne)
	if n, err := w.api.Reset(t.Context(), ""); n != 4 || err != nil {
		t.Errorf("there were %d executions, %v", n, err)
	}
	if all := two.make(t, "ListStateMachines", object{}); len(all.StateMachines) > 0 {
		t.Errorf("left are %v", all.StateMachines)
	}
	load()
	start(two, ofTwo)
}

// TestLoad puts forward the definitions of an operator that are newer than the machine's, and no others.
func TestLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sfn.Config{})
	own := func(n int) *storage.Definition {
		return definitionOf("m", fmt.Sprintf(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "exec:./step%d", "End": true}}}`, n))
	}
	for i, load := range []struct {
		def  *storage.Definition
		want sfn.Loading
	}{
		{own(1), sfn.LoadedNew},
		{own(1), sfn.LoadedSame},
		{own(2), sfn.LoadedNewer},
		{own(1), sfn.LoadedOlder},
		{own(2), sfn.LoadedSame},
		{own(3), sfn.LoadedNewer},
	} {
		got, err := w.api.Load(t.Context(), load.def, false)
		if err != nil || got != load.want {
			t.Errorf("definition %d: %s, %v, want %s", i, got, err, load.want)
		}
	}
	arn := object{"stateMachineArn": resource + "stateMachine:m"}
	if m := w.make(t, "DescribeStateMachine", arn); m.Definition != string(own(3).Text) || m.RevisionID == "" {
		t.Errorf("the machine is %+v", m)
	}
	w.make(t, "UpdateStateMachine", object{"stateMachineArn": resource + "stateMachine:m", "definition": passing})
	if got, err := w.api.Load(t.Context(), own(3), false); err != nil || got != sfn.LoadedOlder {
		t.Errorf("after an update of a client: %s, %v", got, err)
	}
	if _, err := w.api.Load(t.Context(), own(4), true); err == nil || !strings.Contains(err.Error(), "is STANDARD") {
		t.Errorf("another type: %v", err)
	}
	if _, err := w.api.Load(t.Context(), definitionOf("a b", passing), false); err == nil {
		t.Error("a name with a space was accepted")
	}
}
