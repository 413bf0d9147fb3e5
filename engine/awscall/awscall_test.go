package awscall

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/sigv4"
)

// A server answers all calls in the same way, and keeps the last request.
type server struct {
	*httptest.Server

	status int
	header http.Header
	answer string

	header0 http.Header
	body    string
	signed  bool
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.header0, s.body, s.signed = r.Header, string(body), isSigned(r, body)
		maps.Copy(w.Header(), s.header)
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// isSigned reports whether a request has the right signature of the key "id".
func isSigned(r *http.Request, body []byte) bool {
	_, fields, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	part := map[string]string{}
	for f := range strings.SplitSeq(fields, ", ") {
		name, value, _ := strings.Cut(f, "=")
		part[name] = value
	}
	key, scope, _ := strings.Cut(part["Credential"], "/")
	names := strings.Split(part["SignedHeaders"], ";")
	return key == "id" && r.Header.Get("X-Amz-Security-Token") == "session" && part["Signature"] ==
		sigv4.Signature(r, names, sigv4.Hash(body), r.Header.Get("X-Amz-Date"), scope, "secret")
}

func (s *server) caller(t *testing.T) *Caller {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &Caller{Endpoint: to, Region: "eu-west-1", Credentials: &Credentials{AccessKey: "id", Secret: "secret", Session: "session"}}
}

// execute executes the task of a resource.
func execute(t *testing.T, c *Caller, resource, input string) (string, *atom.Failure) {
	t.Helper()
	body, err := c.Task(resource)
	if err != nil {
		return "", atom.NewFailure("p", 1, err)
	}
	ctx := atom.WithCall(t.Context(), &atom.Call{Run: "run", Path: "p", Attempt: 1})
	result, err := body.Execute(ctx, atom.Single(atom.FromJSON([]byte(input))))
	if err != nil {
		return "", atom.NewFailure("p", 1, err)
	}
	return result.String(), nil
}

func sameJSON(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Error(diff)
	}
}

// TestCalls calls actions of each protocol. What the server receives and answers is in the form of the services'
// references.
func TestCalls(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, c := range map[string]struct {
		resource, input string
		sent, target    string
		answer, result  string
	}{
		"JSON": {
			"arn:aws:states:::aws-sdk:dynamodb:getItem", `{"TableName": "t", "Key": {"Name": {"S": 5}}, "ConsistentRead": null}`,
			`{"Key":{"Name":{"S":"5"}},"TableName":"t"}`, "DynamoDB_20120810.GetItem",
			`{"Item": {"Name": {"BOOL": true, "B": "aGk=", "S": null}}, "ConsumedCapacity": null}`,
			`{"Item": {"Name": {"Bool": true, "B": "hi"}}}`,
		},
		"names of the SDK": {
			"arn:aws:states:::aws-sdk:dynamodb:putItem", `{"TableName": "t", "Item": {"a": {"Bool": true}, "b": {"BOOL": true}, "c": {"B": "hi"}}}`,
			`{"Item":{"a":{"BOOL":true},"b":{"BOOL":true},"c":{"B":"aGk="}},"TableName":"t"}`, "DynamoDB_20120810.PutItem", ``, `{}`,
		},
		"objects for texts": {
			"arn:aws:states:::aws-sdk:sqs:sendMessage", `{"QueueUrl": "https://elsewhere.example/q", "MessageBody": {"a": ["<b>"]}}`,
			`{"MessageBody":"{\"a\":[\"<b>\"]}","QueueUrl":"https://elsewhere.example/q"}`, "AmazonSQS.SendMessage",
			`{"MD5OfMessageBody": "m", "MessageId": "i"}`, `{"Md5OfMessageBody": "m", "MessageId": "i"}`,
		},
		"times": {
			"arn:aws:states:::aws-sdk:cloudwatchlogs:getLogEvents", `{"LogStreamName": "s", "StartTime": 5}`,
			`{"logStreamName":"s","startTime":5}`, "Logs_20140328.GetLogEvents", `{"nextForwardToken": "f"}`, `{"NextForwardToken": "f"}`,
		},
		"a time from the service": {
			"arn:aws:states:::aws-sdk:ssm:getParameter", `{"Name": "n"}`, `{"Name":"n"}`, "AmazonSSM.GetParameter",
			`{"Parameter": {"LastModifiedDate": 1.7356896E9, "Version": 12345678901234567890}}`,
			`{"Parameter": {"LastModifiedDate": "2025-01-01T00:00:00Z", "Version": 12345678901234567890}}`,
		},
		"a time to the service": {
			"arn:aws:states:::aws-sdk:cloudtrail:lookupEvents", `{"StartTime": "2025-01-01T00:00:00.5Z"}`, `{"StartTime":1735689600.5}`,
			"com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents", `{}`, `{}`,
		},
		"query": {
			"arn:aws-cn:states:::aws-sdk:sns:publish",
			`{"TopicArn": "a", "Message": {"x": 1}, "MessageAttributes": {"k": {"DataType": "String", "StringValue": "v w"}}}`,
			"Action=Publish&Message=%7B%22x%22%3A1%7D&MessageAttributes.entry.1.Name=k&MessageAttributes.entry.1.Value.DataType=String&" +
				"MessageAttributes.entry.1.Value.StringValue=v+w&TopicArn=a&Version=2010-03-31", "",
			`<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>i</MessageId></PublishResult>` +
				`<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></PublishResponse>`,
			`{"MessageId": "i"}`,
		},
		"lists in query": {
			"arn:aws:states:::aws-sdk:cloudwatch:putMetricData",
			`{"Namespace": "n", "MetricData": [{"MetricName": "m", "Values": [1, 2.5], "Timestamp": "2025-01-01T00:00:00Z"}]}`,
			"Action=PutMetricData&MetricData.member.1.MetricName=m&MetricData.member.1.Timestamp=2025-01-01T00%3A00%3A00Z&" +
				"MetricData.member.1.Values.member.1=1&MetricData.member.1.Values.member.2=2.5&Namespace=n&Version=2010-08-01", "",
			`<PutMetricDataResponse/>`, `{}`,
		},
		"lists from query": {
			"arn:aws:states:::aws-sdk:rds:describeDBInstances", `{"MaxRecords": 20}`,
			"Action=DescribeDBInstances&MaxRecords=20&Version=2014-10-31", "",
			`<R><DescribeDBInstancesResult><DBInstances><DBInstance><AllocatedStorage>5</AllocatedStorage><MultiAZ>true</MultiAZ>` +
				`<InstanceCreateTime>2025-01-01T00:00:00.25Z</InstanceCreateTime></DBInstance></DBInstances></DescribeDBInstancesResult></R>`,
			`{"DbInstances": [{"AllocatedStorage": 5, "MultiAz": true, "InstanceCreateTime": "2025-01-01T00:00:00.250Z"}]}`,
		},
	} {
		s.answer = c.answer
		result, f := execute(t, s.caller(t), c.resource, c.input)
		if f != nil {
			t.Errorf("%s: %v", name, f)
			continue
		}
		if s.body != c.sent || s.header0.Get("X-Amz-Target") != c.target || !s.signed {
			t.Errorf("%s: sent %s to %s, signed: %t", name, s.body, s.header0.Get("X-Amz-Target"), s.signed)
		}
		sameJSON(t, result, c.result)
	}
}

// TestOptimized calls an optimized integration, whose result has the headers of the answer.
func TestOptimized(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.header = http.Header{"X-Amzn-Requestid": {"r"}, "Content-Type": {"application/x-amz-json-1.0"}, "Date": {"d"}}
	s.answer = `{"MD5OfMessageBody":"m"}`
	result, f := execute(t, s.caller(t), "arn:aws:states:::sqs:sendMessage.waitForTaskToken", `{"QueueUrl": "q", "MessageBody": "b"}`)
	if f != nil {
		t.Fatal(f)
	}
	sameJSON(t, result, `{"MD5OfMessageBody": "m", "SdkHttpMetadata": {"AllHttpHeaders": {"Content-Length": ["24"], "Content-Type":
		["application/x-amz-json-1.0"], "Date": ["d"], "x-amzn-RequestId": ["r"]}, "HttpHeaders": {"Content-Length": "24", "Content-Type":
		"application/x-amz-json-1.0", "Date": "d", "x-amzn-RequestId": "r"}, "HttpStatusCode": 200}, "SdkResponseMetadata": {"RequestId": "r"}}`)
}

// TestErrors calls actions that fail, and compares names and causes with those of AWS.
func TestErrors(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	here := s.caller(t)
	nowhere := &Caller{}
	gone := &Caller{Endpoint: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, Credentials: &Credentials{}}
	for name, c := range map[string]struct {
		caller          *Caller
		resource, input string
		status          int
		answer          string
		code, cause     string
	}{
		"modeled, optimized": {
			here, "dynamodb:getItem", `{}`, 400, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no"}`,
			"DynamoDB.ResourceNotFoundException",
			"no (Service: AmazonDynamoDBv2; Status Code: 400; Error Code: ResourceNotFoundException; Request ID: null; Proxy: null)",
		},
		"not modeled, optimized": {
			here, "dynamodb:getItem", `{}`, 400, `{"__type":"com.amazon.coral.validate#ValidationException","Message":"no"}`,
			"DynamoDB.AmazonDynamoDBException",
			"no (Service: AmazonDynamoDBv2; Status Code: 400; Error Code: ValidationException; Request ID: null; Proxy: null)",
		},
		"not modeled, SDK": {
			here, "aws-sdk:dynamodb:putItem", `{"Item": null}`, 400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}`,
			"DynamoDb.DynamoDbException", "no (Service: DynamoDb, Status Code: 400, Request ID: null)",
		},
		"named after its shape": {
			here, "aws-sdk:sqs:getQueueUrl", `{}`, 400, `{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"no"}`,
			"Sqs.QueueDoesNotExistException", "no (Service: Sqs, Status Code: 400, Request ID: null)",
		},
		"query": {
			here, "sns:publish", `{}`, 404, `<ErrorResponse><Error><Type>Sender</Type><Code>NotFound</Code><Message>Topic does not exist</Message>` +
				`</Error><RequestId>r</RequestId></ErrorResponse>`,
			"SNS.NotFoundException", "Topic does not exist (Service: AmazonSNS; Status Code: 404; Error Code: NotFound; Request ID: r; Proxy: null)",
		},
		"not the service": {
			here, "aws-sdk:sns:publish", `{}`, 502, `<html>`, "Sns.SnsException", "<html> (Service: Sns, Status Code: 502, Request ID: null)",
		},
		"redirect": {
			here, "aws-sdk:sns:publish", `{}`, 307, `elsewhere`, "Sns.SnsException", "elsewhere (Service: Sns, Status Code: 307, Request ID: null)",
		},
		"not JSON": {
			here, "sqs:sendMessage", `{}`, 200, `<html>`, "SQS.SdkClientException",
			"Unable to unmarshall response: invalid character '<' looking for beginning of value",
		},
		"failed entry": {
			here, "events:putEvents", `{"Entries": [{"Detail": {"a": 1}}]}`, 200, `{"Entries":[{"ErrorCode":"E"}],"FailedEntryCount":1}`,
			"EventBridge.FailedEntry", `{"Entries":[{"ErrorCode":"E"}],"FailedEntryCount":1}`,
		},
		"unknown parameter": {
			here, "sqs:sendMessage", `{"Queue": 1}`, 0, "", "States.Runtime",
			`The Parameters '{"Queue": 1}' could not be used to start the Task: [The field "Queue" is not supported by Step Functions]`,
		},
		"no server": {
			gone, "sqs:sendMessage", `{}`, 0, "", "SQS.SdkClientException",
			"Unable to execute HTTP request: dial tcp 127.0.0.1:1: connect: connection refused",
		},
		"no endpoint": {
			nowhere, "sqs:sendMessage", `{}`, 0, "", "SQS.SdkClientException", "arn:aws:states:::sqs:sendMessage: no server is set for calls to " +
				"AWS's services (use --aws-endpoint URL, or map the resource to a task of your own)",
		},
		"other protocol": {
			here, "aws-sdk:s3:getObject", `{}`, 0, "", "S3.SdkClientException",
			"arn:aws:states:::aws-sdk:s3:getObject: Ebb does not cover the protocol rest-xml of the service s3 (map the resource to a task of your own)",
		},
		"pattern": {
			here, "ecs:runTask.sync", `{}`, 0, "", "ECS.SdkClientException",
			"arn:aws:states:::ecs:runTask.sync: Ebb does not cover the pattern .sync of the service ecs (map the resource to a task of your own)",
		},
		"action": {
			here, "aws-sdk:sqs:@X", `{}`, 0, "", "Sqs.SdkClientException",
			`arn:aws:states:::aws-sdk:sqs:@X: Ebb does not know the action "@X" of the service sqs (map the resource to a task of your own)`,
		},
		"service": {
			here, "aws-sdk:none:x", `{}`, 0, "", "None.SdkClientException",
			`arn:aws:states:::aws-sdk:none:x: Ebb does not know the service "none" (map the resource to a task of your own)`,
		},
	} {
		s.status, s.answer, s.header = c.status, c.answer, http.Header{"Location": {"http://127.0.0.1:1/"}}
		_, f := execute(t, c.caller, "arn:aws:states:::"+c.resource, c.input)
		if f == nil || f.Code != c.code || f.Message != c.cause {
			t.Errorf("%s: got %v\nwant %s: %s", name, f, c.code, c.cause)
		}
	}
}

// TestOwn calls a service that the process itself has, twice with one idempotency key.
func TestOwn(t *testing.T) {
	t.Parallel()
	var sent []string
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, r.Header.Get("X-Amz-Target")+" "+r.Header.Get("Authorization")+string(body))
		if len(sent) > 2 {
			w.Header().Set("X-Amzn-Errortype", "com.amazonaws.swf.service.v2.model#InvalidToken")
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprint(w, `{"executionArn": "e", "startDate": 1735689600}`)
	})
	c := &Caller{Own: map[string]http.Handler{"states": own}}
	for range 2 {
		result, f := execute(t, c, "arn:aws:states:::aws-sdk:sfn:startExecution", `{"StateMachineArn": "m", "Input": {"a": 1}}`)
		if f != nil {
			t.Fatal(f)
		}
		sameJSON(t, result, `{"ExecutionArn": "e", "StartDate": "2025-01-01T00:00:00Z"}`)
	}
	if sent[0] != sent[1] || !strings.HasPrefix(sent[0], `AWSStepFunctions.StartExecution {"input":"{\"a\":1}","name":"`) {
		t.Errorf("sent %q", sent)
	}
	_, f := execute(t, c, "arn:aws:states:::aws-sdk:sfn:sendTaskSuccess", `{"TaskToken": "t", "Output": {}}`)
	if f == nil || f.Code != "Sfn.InvalidTokenException" {
		t.Errorf("got %v", f)
	}
}

// TestCanceled cancels a call while the server waits.
func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then does the server see that the client is gone
		cancel()
		<-r.Context().Done()
	}))
	defer s.Close()
	to, _ := url.Parse(s.URL)
	body, err := (&Caller{Endpoint: to, Credentials: &Credentials{}}).Task("arn:aws:states:::sqs:sendMessage")
	if err != nil {
		t.Fatal(err)
	}
	ctx = atom.WithCall(ctx, &atom.Call{})
	if _, err = body.Execute(ctx, atom.Single(atom.FromJSON([]byte(`{}`)))); err != context.Canceled { //nolint:errorlint // the cause itself
		t.Errorf("got %v", err)
	}
}

// TestServices reads every service of the archive, and every shape.
func TestServices(t *testing.T) {
	t.Parallel()
	count := 0
	for _, key := range []string{"dynamodb", "sqs", "sns", "eventbridge", "sfn", "ecs", "glue", "secretsmanager", "ssm", "iam", "sts"} {
		s := serviceOf(key)
		if s == nil {
			t.Fatalf("there is no service %s", key)
		}
		for name := range s.ByName {
			switch name[0] {
			case '@':
				if s.Shape(name).kind == 0 {
					t.Errorf("%s: %s", key, name)
				}
				count++
			case '!':
			default:
				if _, _, ok := s.operation(name); !ok {
					t.Errorf("%s: %s", key, name)
				}
			}
		}
	}
	if count < 1000 {
		t.Errorf("%d shapes", count)
	}
}
