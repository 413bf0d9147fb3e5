package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/longtest"
)

// TestAWSAnswersBounded asks a real server for large answers by AWS's protocols, hundreds at once, and reads none of
// them. Meanwhile another client is answered, and the server's memory stays below 512 MiB.
//
// Attack (AWS clients): Hundreds of polls, histories and descriptions of Step Functions and SWF, whose large answers are
// not read; and definitions of a megabyte, all at once.
// Result: Bounded memory, and answers for others. One large definition is judged per processor.
func TestAWSAnswersBounded(t *testing.T) {
	t.Parallel()
	longtest.Needs(t)
	v := newVictim(t, "steps.asl.json")
	server, address := v.serves(t)
	s := awsClient{t, address}
	large := strings.Repeat("x", 250_000)
	activity := s.states("CreateActivity", `{"name": "work"}`)["activityArn"]
	create := `{"name": %q, "roleArn": "arn:aws:iam::000000000000:role/any", "definition": %q}`
	works := s.states("CreateStateMachine", create, "Works",
		fmt.Sprintf(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": %q, "End": true}}}`, activity))
	passes := `"S0": {"Type": "Succeed"}`
	for i := range 30 {
		passes = fmt.Sprintf(`"S%d": {"Type": "Pass", "Next": "S%d"}, %s`, i+1, i, passes)
	}
	long := s.states("CreateStateMachine", create, "Long", `{"StartAt": "S30", "States": {`+passes+`}}`)
	start := `{"stateMachineArn": %q, "input": "\"%s\""}`
	x := s.states("StartExecution", start, long["stateMachineArn"], large)["executionArn"]
	const many = 200
	for range many {
		s.states("StartExecution", start, works["stateMachineArn"], large)
	}
	s.swf("RegisterDomain", `{"name": "d", "workflowExecutionRetentionPeriodInDays": "1"}`)
	s.swf("RegisterWorkflowType", `{"domain": "d", "name": "t", "version": "1", "defaultTaskList": {"name": "l"},
		"defaultChildPolicy": "TERMINATE", "defaultTaskStartToCloseTimeout": "60", "defaultExecutionStartToCloseTimeout": "3600"}`)
	var run any
	for i := range 20 {
		run = s.swf("StartWorkflowExecution",
			`{"domain": "d", "workflowId": "w%d", "workflowType": {"name": "t", "version": "1"}}`, i)["runId"]
		for range 100 {
			s.swf("SignalWorkflowExecution", `{"domain": "d", "workflowId": "w%d", "signalName": "s", "input": %q}`, i, large[:32768])
		}
	}
	for _, asked := range [][2]string{
		{ofStates + "GetActivityTask", fmt.Sprintf(`{"activityArn": %q}`, activity)},
		{ofStates + "GetExecutionHistory", fmt.Sprintf(`{"executionArn": %q, "maxResults": 1000}`, x)},
		{ofStates + "DescribeExecution", fmt.Sprintf(`{"executionArn": %q}`, x)},
		{ofSWF + "PollForDecisionTask", `{"domain": "d", "taskList": {"name": "l"}}`},
		{
			ofSWF + "GetWorkflowExecutionHistory",
			fmt.Sprintf(`{"domain": "d", "execution": {"workflowId": "w19", "runId": %q}}`, run),
		},
	} {
		var unread []net.Conn
		for range many {
			unread = append(unread, s.unread(asked[0], asked[1]))
		}
		for range 20 {
			s.states("DescribeExecution", `{"executionArn": %q}`, x)
		}
		t.Logf("%s: %d MiB", asked[0], peakMemory(t, server.Process.Pid))
		for _, conn := range unread {
			_ = conn.Close()
		}
	}
	// Definitions of a megabyte, as many at once as one client may send. A busy machine answers some with 503.
	states := `"S0": {"Type": "Succeed"}`
	var more strings.Builder
	for i := range 9_000 {
		fmt.Fprintf(&more, `"S%d": {"Type": "Pass", "Next": "S%d", "Comment": "%s"}, `, i+1, i, large[:40])
	}
	definition, err := json.Marshal(map[string]string{"definition": `{"StartAt": "S9000", "States": {` + more.String() + states + `}}`})
	if err != nil {
		t.Fatal(err)
	}
	var judged []net.Conn
	for range 24 {
		judged = append(judged, s.unread(ofStates+"ValidateStateMachineDefinition", string(definition)))
	}
	answered := 0
	for _, conn := range judged {
		switch line, err := bufio.NewReader(conn).ReadString('\n'); {
		case err == nil && strings.Contains(line, " 200 "):
			answered++
		case err != nil || !strings.Contains(line, " 503 "):
			t.Errorf("a large definition: %q, %v", line, err)
		}
		_ = conn.Close()
	}
	if answered == 0 {
		t.Error("no large definition was judged")
	}
	t.Logf("definitions: %d MiB", peakMemory(t, server.Process.Pid))
	if peak := peakMemory(t, server.Process.Pid); peak >= 512 {
		t.Errorf("the server had %d MiB; want less than 512", peak)
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("it was told to stop, and exited with %v", err)
	}
}

const (
	ofStates = "AWSStepFunctions."
	ofSWF    = "SimpleWorkflowService."
)

// An awsClient sends requests as clients of AWS do.
type awsClient struct {
	*testing.T

	address string
}

func (s *awsClient) states(operation, body string, args ...any) map[string]any {
	s.Helper()
	return s.call(ofStates+operation, fmt.Sprintf(body, args...))
}

func (s *awsClient) swf(operation, body string, args ...any) map[string]any {
	s.Helper()
	return s.call(ofSWF+operation, fmt.Sprintf(body, args...))
}

// call sends a request from an address of its own, and reads the answer.
func (s *awsClient) call(operation, body string) (answer map[string]any) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, "http://"+s.address+"/", strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", operation)
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 5)}}
	client := http.Client{Transport: &http.Transport{DialContext: from.DialContext, DisableKeepAlives: true}}
	got, err := client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	_ = got.Body.Close()
	if err != nil || got.StatusCode != http.StatusOK {
		s.Fatalf("%s: %d %.500s, %v", operation, got.StatusCode, text, err)
	}
	if err := json.Unmarshal(text, &answer); err != nil && len(text) > 0 {
		s.Fatal(err)
	}
	return answer
}

// unread sends a request whose answer is not read.
func (s *awsClient) unread(operation, body string) net.Conn {
	s.Helper()
	conn, err := new(net.Dialer).DialContext(context.WithoutCancel(s.Context()), "tcp", s.address)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	}
	if err == nil {
		_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"+
			"X-Amz-Target: %s\r\nContent-Length: %d\r\n\r\n%s", operation, len(body), body)
	}
	if err != nil {
		s.Fatal(err)
	}
	return conn
}
