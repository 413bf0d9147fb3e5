package awsshape

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestServices reads all shapes of all services: each line must be complete, and each name that it uses must exist.
func TestServices(t *testing.T) {
	t.Parallel()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) < 300 {
		t.Errorf("%d services", len(z.File))
	}
	for _, f := range z.File {
		s := serviceOf(f.Name)
		for name, line := range s.lines {
			r := reader{line}
			read := r.shape()
			if r.text != "" {
				t.Errorf("%s: %s: %q is left", f.Name, name, r.text)
			}
			if name[0] != '@' && read.kind != '{' {
				t.Errorf("%s: %s answers no object", f.Name, name)
			}
			for _, used := range uses(read) {
				if s.shape("@"+used) == nil {
					t.Errorf("%s: %s uses @%s, which does not exist", f.Name, name, used)
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
	} {
		d := json.NewDecoder(strings.NewReader(c.answer))
		d.UseNumber()
		var answer any
		if err := d.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		for strict, want := range map[bool]string{true: c.strict, false: c.loose} {
			err := Check(c.service, c.action, answer, strict)
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

// TestActions reads the actions of all services: each one that answers something has its parameters.
func TestActions(t *testing.T) {
	t.Parallel()
	if n := len(Services()); n < 300 {
		t.Errorf("%d services", n)
	}
	for _, service := range Services() {
		actions := Actions(service)
		for name := range serviceOf(service).lines {
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
