package awsshape

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestOperations(t *testing.T) {
	t.Parallel()
	if n := len(shapes()); n < 30 {
		t.Errorf("%d shapes", n)
	}
	for name, s := range shapes() {
		if s.kind != '{' && name[0] != '@' {
			t.Errorf("%s answers no object", name)
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
		{"dynamodb", "query", `{"Items": [{"a": {"S": "x"}}], "Count": true}`, "Field 'Count' must be a number", "Field 'Count' must be a number"},
		{"sqs", "receiveMessage", `{"Messages": [{"Attributes": {"a": 1}}]}`, "Field 'Attributes' must be a string", "Field 'Attributes' must be a string"},
		{"sqs", "receiveMessage", `{"Messages": [{"Attributes": "a"}]}`, "Field 'Attributes' must be an object", "Field 'Attributes' must be an object"},
		{"ssm", "getParameter", `{"Parameter": {"Type": "Text"}}`, "Field 'Type' is not an expected value", "Field 'Type' is not an expected value"},
		{"sns", "publishBatch", `{"Failed": [{"Id": "1", "Code": "c"}]}`, "Required field 'SenderFault' is missing", ""},
		{"sns", "publishBatch", `{"Failed": [{"SenderFault": "no"}]}`, "Required field 'Code' is missing", "Field 'SenderFault' must be a boolean"},
		{"ours", "tally", `{"a": 1}`, "", ""},
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
