package tasks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
)

// reply returns its name and its input.
type reply string

func (r reply) Execute(_ context.Context, in atom.Values) (atom.Value, error) {
	return atom.MustEncode(map[string]any{"by": string(r), "in": in.Input()}), nil
}

func (r reply) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.MustEncode("undone by " + string(r)), nil
}

func (reply) Reverts() bool { return true }

const payARN = "arn:aws:lambda:eu-west-1:123456789012:function:Pay"

// A function is found by each of its names.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, known := range []string{payARN, payARN + ":7", "Pay"} {
		for _, called := range []string{payARN, payARN + ":7", "Pay"} {
			r := &tasks.Registry{}
			r.Add("pay", reply("pay"))
			r.Map(known, "pay")
			body, err := r.Task("arn:aws:states:::lambda:invoke")
			if err != nil {
				t.Fatal(err)
			}
			got, err := body.Execute(calling(t, atom.Call{}),
				atom.Single(atom.FromJSON([]byte(`{"FunctionName": "`+called+`", "Payload": {"n": 1}}`))))
			want := `{"ExecutedVersion":"$LATEST","Payload":{"by":"pay","in":{"n":1}},"SdkHttpMetadata":{"HttpStatusCode":200},"StatusCode":200}`
			if known == payARN+":7" && called != known {
				want = "Lambda.ResourceNotFoundException: Function not found: " + called +
					" (map it to exec:PROGRAM or https://…; registered are pay)"
			}
			if text := said(got, err); text != want {
				t.Errorf("known as %s, called %s: %s", known, called, text)
			}
			if strings.HasPrefix(called, "arn:") {
				if _, err := r.Task(called); (err == nil) == strings.HasPrefix(want, "Lambda") {
					t.Errorf("known as %s, the task %s: %v", known, called, err)
				}
			}
		}
	}
}

func said(v atom.Value, err error) string {
	if err != nil {
		return failure(err).Error()
	}
	return v.String()
}

// A service that waits is found without its suffix. The error for an unmapped resource says how to map it.
func TestServices(t *testing.T) {
	t.Parallel()
	r := &tasks.Registry{}
	if err := r.Check("arn:aws:states:::lambda:invoke"); err == nil || !strings.Contains(err.Error(),
		"map a function's name or ARN") {
		t.Error(err)
	}
	r.Map("arn:aws:states:::sqs:sendMessage", "https://example.org/send")
	for name, want := range map[string]string{
		"arn:aws:states:::sqs:sendMessage":                  "",
		"arn:aws:states:::sqs:sendMessage.waitForTaskToken": "",
		"arn:aws:states:::http:invoke":                      "",
		"arn:aws:states:eu-west-1:1:activity:pay":           "",
		"arn:aws:states:::lambda:invoke.waitForTaskToken":   "",
		"arn:aws:states:::sns:publish":                      "tasks: there is no task arn:aws:states:::sns:publish (use exec:PROGRAM, https://… or worker:KIND, or map the name to one)",
		payARN: "tasks: there is no task " + payARN +
			" (use exec:PROGRAM, https://… or worker:KIND, or map the name to one)",
	} {
		_, err := r.Task(name)
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.Map(payARN, payARN+":7")
	r.Map(payARN+":7", payARN)
	if _, err := r.Task(payARN); err == nil {
		t.Error("functions that stand for each other can be called")
	}
	body, err := r.Task("arn:aws:states:::lambda:invoke")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := body.Execute(calling(t, atom.Call{}), atom.Single(atom.FromJSON([]byte(`{"Payload": 1}`)))); err == nil {
		t.Error("a call of nothing")
	}
}
