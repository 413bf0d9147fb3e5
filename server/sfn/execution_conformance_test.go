package sfn_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
)

// TestConformanceASLExecutionAPI plays executions recorded on AWS over HTTP, in virtual time. Functions and services
// answer as recorded. The workers of activities and the holders of tokens answer over the API.
func TestConformanceASLExecutionAPI(t *testing.T) {
	t.Parallel()
	tally := conformance.NewTally("asl/execution over the wire")
	for _, record := range conformance.Executions(t) {
		p := &executionPlay{record: record}
		synctest.Test(t, p.play)
		tally.Add(record, record.Compare(p.outcome))
	}
	tally.Print(t)
	tally.DemandLevels(t, 0.99, 0.99, 0.97, 0.97, 0.97)
}

// An executionPlay plays one record against a fresh server.
type executionPlay struct {
	record  *conformance.Execution
	world   *world
	outcome conformance.Outcome
}

// pageOfEvents is the size of the pages in which histories are read.
const pageOfEvents = 7

func (p *executionPlay) play(t *testing.T) {
	time.Sleep(time.Until(p.record.Clock))
	by := &services{t: t, script: p.record.Script(), files: bucketsOf(t, p.record)}
	p.world = newWorldOf(t, sfn.Config{Account: aws.Account{ID: recordedAccount}}, by)
	by.world = p.world
	for _, activity := range p.record.Activities() {
		p.world.must(t, "CreateActivity", object{"name": activity[strings.LastIndexByte(activity, ':')+1:]}, nil)
		go by.toil(t.Context(), activity, p.record.Worker())
	}
	created := p.world.call(t, "CreateStateMachine", object{
		"name": p.record.MachineName, "type": p.record.Type, "definition": string(p.record.Definition), "roleArn": recordedRole,
	})
	if created.Code != "" {
		p.outcome = conformance.Outcome{Status: created.Code, Cause: &created.Message}
		return
	}
	machine, execution := p.record.ARN()
	params := object{"stateMachineArn": machine, "name": p.record.ExecutionName}
	if p.record.Input != nil {
		params["input"] = string(p.record.Input)
	}
	if p.record.Type == "EXPRESS" { // nothing else reports how an Express execution ended
		p.ended(t, "StartSyncExecution", params)
		return
	}
	p.world.must(t, "StartExecution", params, nil)
	if p.record.Expected.Status == "ABORTED" {
		time.Sleep(time.Second)
		p.world.must(t, "StopExecution", object{"executionArn": execution}, nil)
	}
	p.describe(t, execution)
	p.history(t, execution)
}

const recordedRole = "arn:aws:iam::" + recordedAccount + ":role/any"

// ended makes a call that answers how the execution ended.
func (p *executionPlay) ended(t *testing.T, op string, params object) {
	t.Helper()
	var answer struct {
		ExecutionArn string
		Status       string
		Output       *string
		Error, Cause *string
	}
	p.world.must(t, op, params, &answer)
	p.outcome = conformance.Outcome{Status: answer.Status, Error: answer.Error, Cause: answer.Cause}
	if answer.Output != nil {
		_, execution := p.record.ARN() // of an Express execution it ends here with another UUID
		p.outcome.Output = json.RawMessage(strings.ReplaceAll(*answer.Output, answer.ExecutionArn, execution))
	}
}

// describe waits until the execution has ended. It asks ever more rarely, because some executions wait for weeks.
func (p *executionPlay) describe(t *testing.T, execution string) {
	t.Helper()
	const longest = 30 * 24 * time.Hour
	for pause := time.Second; pause < longest; pause *= 2 {
		synctest.Wait()
		p.ended(t, "DescribeExecution", object{"executionArn": execution})
		if p.outcome.Status != "RUNNING" {
			return
		}
		time.Sleep(pause)
	}
}

// history reads the whole history, page by page.
func (p *executionPlay) history(t *testing.T, execution string) {
	t.Helper()
	var events []json.RawMessage
	params := object{"executionArn": execution, "maxResults": pageOfEvents}
	for {
		var page struct {
			Events    []json.RawMessage
			NextToken string
		}
		p.world.must(t, "GetExecutionHistory", params, &page)
		if len(page.Events) > pageOfEvents {
			t.Fatalf("%s: %d events on a page of %d", p.record.Name, len(page.Events), pageOfEvents)
		}
		events = append(events, page.Events...)
		if page.NextToken == "" {
			break
		}
		params["nextToken"] = page.NextToken
	}
	p.outcome.Events = conformance.ReadHistory(t, events)
}

// bucketsOf returns tasks that read and write the buckets of a record.
func bucketsOf(t *testing.T, record *conformance.Execution) *tasks.Registry {
	t.Helper()
	r := &tasks.Registry{}
	buckets := map[string]tasks.Bucket{}
	for _, name := range record.Buckets() {
		buckets[name] = tasks.Folder(t.TempDir())
		r.AddBucket(name, buckets[name])
	}
	for _, o := range record.Objects {
		if err := buckets[o.Bucket].Write(o.Key, 0, o.Body); err != nil {
			t.Fatal(err)
		}
	}
	return r
}
