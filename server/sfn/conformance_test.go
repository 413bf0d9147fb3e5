package sfn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
)

// laterMembers are the members that AWS added to answers, with the days of the announcements.
var laterMembers = []conformance.LaterMember{
	{Name: "redriveCount", Since: day(2023, time.November, 15)},
	{Name: "redriveDate", Since: day(2023, time.November, 15)},
	{Name: "redriveStatus", Since: day(2023, time.November, 15)},
	{Name: "redriveStatusReason", Since: day(2023, time.November, 15)},
	{Name: "encryptionConfiguration", Since: day(2024, time.July, 25)},
	{Name: "truncated", Since: day(2024, time.August, 29)},
	{Name: "variableReferences", Since: day(2024, time.November, 20)},
}

func day(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// recordedAccount is the account of the records.
const recordedAccount = "111111111111"

// TestConformanceASLAPI plays recorded calls over HTTP, in virtual time.
//
// Guarantee (AWS's protocol): Recorded calls of AWS Step Functions have the recorded answers, over HTTP and in virtual
// time.
// Also: `TestConformanceASLTestStateAPI`.
func TestConformanceASLAPI(t *testing.T) {
	t.Parallel()
	transcripts, verdicts := conformance.NewAspects("asl/api"), conformance.NewAspects("asl/api localstack")
	for _, record := range conformance.Transcripts(t) {
		p := &apiPlay{record: record, at: record.Date(t), verdicts: record.Provenance != "aws"}
		synctest.Test(t, p.play)
		if p.verdicts {
			verdicts.Count("verdicts", record.Name, p.miss)
		} else {
			transcripts.Count("transcripts", record.Name, p.miss)
		}
	}
	transcripts.Print(t)
	verdicts.Print(t)
	transcripts.Demand(t, "transcripts", 0.97)
	verdicts.Demand(t, "verdicts", 1)
}

// An apiPlay plays one transcript against a fresh server.
type apiPlay struct {
	record   *conformance.Transcript
	at       time.Time
	verdicts bool // only whether calls are accepted counts

	world *world
	names []string // pairs of names in the record, such as exec0001, and the names here
	begun int      // executions for which AWS chose the name
	miss  string   // the first difference
}

func (p *apiPlay) play(t *testing.T) {
	done := p.record.Services(t)
	by := &services{t: t, script: done.Script(), files: &tasks.Registry{}}
	by.world = newWorldOf(t, sfn.Config{Account: aws.Account{ID: recordedAccount}, LogGroups: p.logGroups()}, by)
	p.world = by.world
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	for _, activity := range done.Activities() {
		workers.Go(func() { by.toil(ctx, activity, done.Worker()) })
	}
	for i, step := range p.record.Steps {
		if miss := p.step(t, step); miss != "" {
			p.miss = fmt.Sprintf("step %d: %s", i+1, miss)
			return
		}
	}
}

// Times of the reading calls: how often they are repeated, and after which time, until the answer is the recorded one.
const (
	patience = 10 * time.Minute
	interval = time.Second
)

// step makes one call. A call that reads what executions have come to is repeated, because AWS answered it later.
func (p *apiPlay) step(t *testing.T, step *conformance.APIStep) string {
	t.Helper()
	reads := strings.HasPrefix(step.Op, "Get") || strings.HasPrefix(step.Op, "Describe") || strings.HasPrefix(step.Op, "List")
	for began := time.Now(); ; time.Sleep(interval) {
		synctest.Wait() // until everything waits that need not wait for time to pass
		answer, err := p.world.send(t.Context(), step.Op, p.body(t, step))
		if err != nil {
			t.Fatalf("%s: %v", p.record.Name, err)
		}
		if step.Op == "StartExecution" && answer.Code == "" && step.Params["name"] == nil {
			p.bind(t, answer)
		}
		miss := p.compare(step, answer)
		if miss == "" || !reads || p.verdicts || time.Since(began) > patience {
			return miss
		}
	}
}

// compare returns where an answer differs from the record.
func (p *apiPlay) compare(step *conformance.APIStep, answer *conformance.APIAnswer) string {
	if !p.verdicts {
		answer.Body = []byte(strings.NewReplacer(backward(p.names)...).Replace(string(answer.Body)))
		answer.Message = strings.NewReplacer(backward(p.names)...).Replace(answer.Message)
		return step.Compare(answer, p.at, laterMembers)
	}
	bare := conformance.APIStep{Op: step.Op, Params: step.Params}
	if step.Error != nil {
		bare.Error = &struct{ Code, Message string }{}
	}
	return bare.Compare(answer, p.at, nil)
}

// body returns the body of a call, with the names that executions have here.
func (p *apiPlay) body(t *testing.T, step *conformance.APIStep) []byte {
	t.Helper()
	body, err := json.Marshal(step.Params)
	if err != nil {
		t.Fatal(err)
	}
	body = bytes.ReplaceAll(body, []byte(requestedGroup), []byte(answeredGroup))
	return []byte(strings.NewReplacer(p.names...).Replace(string(body)))
}

// bind notes the name that an execution has here.
func (p *apiPlay) bind(t *testing.T, answer *conformance.APIAnswer) {
	t.Helper()
	var started struct{ ExecutionArn string }
	if err := json.Unmarshal(answer.Body, &started); err != nil {
		t.Fatal(err)
	}
	p.begun++
	name := started.ExecutionArn[strings.LastIndexByte(started.ExecutionArn, ':')+1:]
	p.names = append(p.names, fmt.Sprintf("exec%04d", p.begun), name)
}

func backward(pairs []string) []string {
	out := make([]string, len(pairs))
	for i := 0; i < len(pairs); i += 2 {
		out[i], out[i+1] = pairs[i+1], pairs[i]
	}
	return out
}

// The recorder replaced the name of a log group by one text in requests, and by another in answers.
const (
	requestedGroup = ":log-group:x:*"
	answeredGroup  = ":log-group:log_group_name:*"
)

// logGroups returns the log groups that existed when the transcript was recorded.
func (p *apiPlay) logGroups() map[string]io.Writer {
	for _, step := range p.record.Steps {
		if step.Error != nil && strings.Contains(step.Error.Message, "Log Destination not found") {
			return nil
		}
	}
	return map[string]io.Writer{"log_group_name": nil}
}

// TestConformanceASLTestStateAPI tests single states over HTTP as they were tested on AWS.
func TestConformanceASLTestStateAPI(t *testing.T) {
	t.Parallel()
	aspects := conformance.NewAspects("asl/teststate over the wire")
	for _, record := range conformance.StateTests(t) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, sfn.Config{
				Account: aws.Account{ID: recordedAccount},
				Call: func(context.Context, string, atom.Value) (atom.Value, *atom.Failure) {
					answer := record.Answer()
					return atom.FromJSON(answer.Output), failureOf(&answer)
				},
			})
			answer, err := w.send(t.Context(), "TestState", record.Request())
			if err != nil {
				t.Fatal(err)
			}
			outcome := &conformance.StateTestOutcome{Refused: answer.Code, Message: answer.Message}
			if answer.Code == "" {
				outcome = conformance.ReadStateTestOutcome(t, answer.Body)
			}
			aspects.Count("response", record.Name, record.Compare(outcome))
		})
	}
	aspects.Print(t)
	aspects.Demand(t, "response", 0.98)
}

// failureOf returns how a recorded call has failed; nil if it has not.
func failureOf(a *conformance.Answer) *atom.Failure {
	if !a.Failed {
		return nil
	}
	f := &atom.Failure{Bare: a.Error == nil}
	if a.Error != nil {
		f.Code = *a.Error
	}
	if cause := a.Text(); cause != nil {
		f.Message = *cause
	}
	return f
}
