package awsshape

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/awslines"
)

// TestServices reads all shapes of all services: each line must be complete, and each name that it uses must exist.
func TestServices(t *testing.T) {
	t.Parallel()
	files := awslines.Files(archive)
	if len(files) < 300 {
		t.Errorf("%d services", len(files))
	}
	for _, file := range files {
		s := serviceOf(file)
		for name, line := range s.ByName {
			r := awslines.Reader{Text: line}
			is := read(&r)
			if r.Text != "" {
				t.Errorf("%s: %s: %q is left", file, name, r.Text)
			}
			if name[0] != '@' && is.kind != '{' {
				t.Errorf("%s: %s answers no object", file, name)
			}
			for _, used := range uses(is) {
				if s.Shape("@"+used) == nil {
					t.Errorf("%s: %s uses @%s, which does not exist", file, name, used)
				}
			}
		}
	}
}

func uses(s *shape) (names []string) {
	if s == nil {
		return nil
	}
	if s.kind == '@' {
		names = append(names, s.name)
	}
	names = append(names, uses(s.of)...)
	for _, f := range s.fields {
		names = append(names, uses(f.shape)...)
	}
	return names
}

// TestPolled: each operation that checks a job exists.
func TestPolled(t *testing.T) {
	t.Parallel()
	for started, polls := range polled {
		service, action, _ := strings.Cut(started, ":")
		if polls == "" {
			continue
		}
		if other, ok := optimized[service]; ok {
			service = other
		}
		if s := serviceOf(service); s == nil || s.Shape(polls) == nil {
			t.Errorf("%s: the service has no %s", started, polls)
		}
		if service != "emr" && serviceOf(service).Shape(action) == nil { // addStep is a name of the integration
			t.Errorf("%s: the service has no %s", started, action)
		}
	}
}

// TestPascal has names whose words the AWS SDK for Java 2 documents.
func TestPascal(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"executionArn": "ExecutionArn", "ETag": "ETag", "DBInstances": "DbInstances", "contentMD5": "ContentMd5",
		"SSECustomerAlgorithm": "SseCustomerAlgorithm", "MD5OfMessageBody": "Md5OfMessageBody", "VpcId": "VpcId",
		"SubnetIdSet": "SubnetIdSet", "CopySourceIfMatch": "CopySourceIfMatch",
		"hello_world": "HelloWorld",
	} {
		if got := pascal(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for id, want := range map[string]string{
		"SFN": "sfn", "Cognito Identity Provider": "cognitoidentityprovider", "Config Service": "config",
		"Elastic Load Balancing v2": "elasticloadbalancingv2", "Amazon CloudWatch": "cloudwatch",
		"Database Migration Service": "databasemigration", "IoT 1Click Devices Service": "iot1clickdevices",
	} {
		if got := ServiceKey(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, action, answer, strict, loose string }{
		{"sns", "publish", `{"MessageId": "m", "More": 1}`, "", ""},
		{"sns", "publish", `{"MessageId": 1}`, "Field 'MessageId' must be a string", "Field 'MessageId' must be a string"},
		{"sns", "publish", `[]`, "Mock result must be a valid JSON object", "Mock result must be a valid JSON object"},
		{"aws-sdk:sfn", "startExecution", `{"StartDate": "d"}`, "Required field 'ExecutionArn' is missing", ""},
		{
			"dynamodb", "query", `{"Items": [{"a": {"S": "x"}}], "Count": true}`, "Field 'Count' must be a number",
			"Field 'Count' must be a number",
		},
		{
			"sqs", "receiveMessage", `{"Messages": [{"Attributes": {"a": 1}}]}`, "Field 'Attributes' must be a string",
			"Field 'Attributes' must be a string",
		},
		{
			"sqs", "receiveMessage", `{"Messages": [{"Attributes": "a"}]}`, "Field 'Attributes' must be an object",
			"Field 'Attributes' must be an object",
		},
		{
			"ssm", "getParameter", `{"Parameter": {"Type": "Text"}}`, "Field 'Type' is not an expected value",
			"Field 'Type' is not an expected value",
		},
		{"sns", "publishBatch", `{"Failed": [{"Id": "1", "Code": "c"}]}`, "Required field 'SenderFault' is missing", ""},
		{
			"sns", "publishBatch", `{"Failed": [{"Id": "1", "SenderFault": "no"}]}`, "Required field 'Code' is missing",
			"Field 'SenderFault' must be a boolean",
		},
		{"ours", "tally", `{"a": 1}`, "", ""},
		{
			"aws-sdk:rds", "describeDBInstances", `{"DbInstances": {}}`, "Field 'DbInstances' must be an array",
			"Field 'DbInstances' must be an array",
		},
		{
			"aws-sdk:dynamodb", "getItem", `{"Item": {"a": {"M": {"b": {"L": [{"S": 1}]}}}}}`, "Field 'S' must be a string",
			"Field 'S' must be a string",
		},
		{"apigateway", "invoke", `[]`, "", ""},
		// Fields that Step Functions decodes
		{"lambda", "invoke", `{"Payload": {"a": 1}}`, "", ""},
		{"lambda", "invoke.waitForTaskToken", `7`, "", ""},
		{"aws-sdk:lambda", "invoke", `{"Payload": {"a": 1}}`, "Field 'Payload' must be a string", "Field 'Payload' must be a string"},
		// Jobs: the answer is that of the operation that checks the job
		{"states", "startExecution.sync:2", `{"Output": {"a": 1}}`, "Required field 'ExecutionArn' is missing", ""},
		{"states", "startExecution.sync", `{"Output": {"a": 1}}`, "Required field 'ExecutionArn' is missing", "Field 'Output' must be a string"},
		{"states", "startExecution.sync", `{"Status": "DONE"}`, "Required field 'ExecutionArn' is missing", "Field 'Status' is not an expected value"},
		{"batch", "submitJob.sync", `{"Jobs": 1}`, "Field 'Jobs' must be an array", "Field 'Jobs' must be an array"},
		{"eks", "runJob.sync", `1`, "", ""},
		{"eks", "call", `[]`, "", ""},
		{"http", "invoke", `{"StatusCode": "x"}`, "", ""},
		{"bedrock", "invokeModel", `{"Body": 1}`, "", ""},
		{"eks", "createCluster.sync", `{"Cluster": 1}`, "Field 'Cluster' must be an object", "Field 'Cluster' must be an object"},
		{"bedrock", "createModelCustomizationJob.sync", `{}`, "Required field 'JobArn' is missing", ""},
		// Lengths, ranges and whole numbers
		{
			"aws-sdk:sfn", "startExecution", `{"ExecutionArn": "", "StartDate": "d"}`,
			"Field 'ExecutionArn' is smaller than the minimum length",
			"Field 'ExecutionArn' is smaller than the minimum length",
		},
		{
			"aws-sdk:sfn", "startExecution", `{"ExecutionArn": "` + strings.Repeat("é", 256) + `", "StartDate": "d"}`, "", "",
		},
		{
			"aws-sdk:sfn", "startExecution", `{"ExecutionArn": "` + strings.Repeat("é", 257) + `", "StartDate": "d"}`,
			"Field 'ExecutionArn' exceeds the maximum length",
			"Field 'ExecutionArn' exceeds the maximum length",
		},
		{
			"aws-sdk:appconfig", "getDeployment", `{"GrowthFactor": 100.5}`,
			"Field 'GrowthFactor' exceeds the maximum value",
			"Field 'GrowthFactor' exceeds the maximum value",
		},
		{
			"aws-sdk:appconfig", "getDeployment", `{"GrowthFactor": 0.5}`,
			"Field 'GrowthFactor' is less than the minimum value",
			"Field 'GrowthFactor' is less than the minimum value",
		},
		{"aws-sdk:appconfig", "getDeployment", `{"GrowthFactor": 1.5}`, "", ""},
		{
			"aws-sdk:kms", "encrypt", `{"CiphertextBlob": ""}`,
			"Field 'CiphertextBlob' is smaller than the minimum length", "Field 'CiphertextBlob' is smaller than the minimum length",
		},
		{"lambda", "invoke", `{"StatusCode": 200.5}`, "Field 'StatusCode' must be an integer", "Field 'StatusCode' must be an integer"},
		{"lambda", "invoke", `{"StatusCode": 1e-400000000}`, "", ""},
		{"lambda", "invoke", `{"StatusCode": 1e400000000}`, "Field 'StatusCode' must be a number", "Field 'StatusCode' must be a number"},
		{"lambda", "invoke", `{"StatusCode": 2.0e2}`, "", ""},
		{"lambda", "invoke", `{"StatusCode": 200.0}`, "", ""},
		{"lambda", "invoke", `{"StatusCode": null}`, "Field 'StatusCode' must be a number", "Field 'StatusCode' must be a number"},
		{
			"aws-sdk:backup", "describeFramework", `{"FrameworkControls": [{"ControlName": "c", "ControlScope": {"ComplianceResourceIds": []}}]}`,
			"Field 'ComplianceResourceIds' is smaller than the minimum length",
			"Field 'ComplianceResourceIds' is smaller than the minimum length",
		},
	} {
		d := json.NewDecoder(strings.NewReader(c.answer))
		d.UseNumber()
		var answer any
		if err := d.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		action, pattern := c.action, ""
		if i := strings.IndexByte(action, '.'); i >= 0 {
			action, pattern = action[:i], action[i:]
		}
		for strict, want := range map[bool]string{true: c.strict, false: c.loose} {
			err := Check(c.service, action, pattern, answer, strict)
			if got := text(err); !strings.HasSuffix(got, want) || want == "" && got != "" {
				t.Errorf("%s:%s %s: strict %t: %q, want %q", c.service, c.action, c.answer, strict, got, want)
			}
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestActions reads the actions of all services: each operation with an answer is an action.
func TestActions(t *testing.T) {
	t.Parallel()
	if n := len(Services()); n < 300 {
		t.Errorf("%d services", n)
	}
	for _, service := range Services() {
		actions := Actions(service)
		for name := range serviceOf(service).ByName {
			if name[0] != '@' && actions[name] == nil {
				t.Errorf("%s has no action %s", service, name)
			}
		}
	}
	if Actions("nosuch") != nil {
		t.Error("an unknown service has actions")
	}
	is := Actions("s3")["getObject"]
	if is == nil || !slices.Equal(is.Required, []string{"Bucket", "Key"}) || !slices.Contains(is.Known, "VersionId") {
		t.Errorf("s3:getObject: %v", is)
	}
	if is := Actions("sqs")["createQueue"]; !slices.Equal(is.Required, []string{"QueueName"}) {
		t.Errorf("sqs:createQueue: %v", is)
	}
	if is := Actions("athena")["startQueryExecution"]; !slices.Equal(is.Required, []string{"QueryString"}) {
		t.Errorf("a client passes the token itself: %v", is)
	}
}
