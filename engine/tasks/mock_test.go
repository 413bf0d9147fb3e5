package tasks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/memstore"
)

// nothing is a body that reports its call.
type nothing struct{}

func (nothing) Execute(context.Context, atom.Values) (atom.Value, error) {
	return atom.MustEncode("real"), nil
}

func (nothing) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.MustEncode("really undone"), nil
}

func (nothing) Reverts() bool { return true }

const mockText = `{
  "StateMachines": {"trip": {"TestCases": {
    "paid": {"Pay": "Paid"},
    "by path": {"Fork/Pay": "Paid", "Pay": "Slow"},
    "slow": {"Pay": "Slow", "Wrap/up": "Paid"}}}},
  "MockedResponses": {
    "Paid": {"0": {"Return": {"receipt": 7}}},
    "Slow": {"0-1": {"Throw": {"Error": "Busy", "Cause": "try again"}}, "2": {"Return": null}}}}`

func TestMocks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, testCase, path, task string
		attempt                    int
		revert                     bool
		want                       string
	}{
		{"answers", "paid", "Pay", "exec:./gone", 1, false, `{"receipt": 7}`},
		{"in a branch, on a later visit", "paid", "Fork[0]/Pay#3", "exec:./gone", 1, false, `{"receipt": 7}`},
		{"by its path", "by path", "Fork[0]/Pay#3", "exec:./gone", 1, false, `{"receipt": 7}`},
		{"elsewhere", "by path", "Other[0]/Pay", "exec:./gone", 1, false, `Busy: try again`},
		{"throws", "slow", "Pay", "real", 2, false, `Busy: try again`},
		{"by attempt", "slow", "Pay", "real", 3, false, `null`},
		{
			"no more answers", "slow", "Pay", "real", 4, false,
			`Ebb.NoMock: the mock "Slow" has no answer for attempt 3, counted from 0: it has 3`,
		},
		{"an escaped name", "slow", "Wrap~1up", "real", 1, false, `{"receipt": 7}`},
		{"other states are real", "paid", "Book", "real", 1, false, `"real"`},
		{"undone by nothing", "paid", "Pay", "real", 1, true, `null`},
		{"others are really undone", "paid", "Book", "real", 1, true, `"really undone"`},
		{
			"a state that neither mocks nor tasks know", "paid", "Book", "nowhere", 1, false,
			`Ebb.NoMock: no mock answers for the state "Book", and tasks: there is no task nowhere (use exec:PROGRAM, https://… or worker:KIND, or map the name to one; registered are real)`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			mocks, err := tasks.ParseMocks("mocks.json", []byte(mockText), "trip", test.testCase)
			if err != nil {
				t.Fatal(err)
			}
			r := &tasks.Registry{Mocks: mocks}
			r.Add("real", nothing{})
			body, err := r.Task(test.task)
			if err != nil {
				t.Fatal(err)
			}
			ctx := calling(t, atom.Call{Run: "r", Path: test.path, Attempt: test.attempt, Revert: test.revert})
			var got atom.Value
			if test.revert {
				got, err = body.Revert(ctx, atom.Single(atom.Null), atom.Done(atom.Null))
			} else {
				got, err = body.Execute(ctx, atom.Single(atom.Null))
			}
			text := got.String()
			if err != nil {
				text = failure(err).Error()
			}
			if diff := cmp.Diff(test.want, text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMocksCover: a caller is covered by a mock for its path or its name, and a state also by one for its path.
func TestMocksCover(t *testing.T) {
	t.Parallel()
	mocks, err := tasks.ParseMocks("mocks.json", []byte(mockText), "trip", "paid")
	if err != nil {
		t.Fatal(err)
	}
	for caller, want := range map[string]bool{"Pay": true, "Book": false, "Book/enter/Pay": true, "Pay/enter": false} {
		if got := mocks.Covers(caller); got != want {
			t.Errorf("%s is covered: %v", caller, got)
		}
	}
	if (*tasks.Mocks)(nil).Covers("Pay") {
		t.Error("nothing covers a state")
	}
}

func TestParseMocksRefuses(t *testing.T) {
	t.Parallel()
	one := func(responses string) string {
		return `{"StateMachines": {"m": {"TestCases": {"c": {"S": "R"}}}}, "MockedResponses": {` + responses + `}}`
	}
	tests := map[string]struct{ text, testCase, want string }{
		"broken JSON": {
			"{\n \"StateMachines\": [}", "",
			"tasks: m.json:2:20: invalid character '}' looking for beginning of value (a mock file has",
		},
		"unknown field": {`{"Machines": {}}`, "", `tasks: m.json:1:16: unknown field "Machines" (a mock file has`},
		"wrong type": {
			`{"StateMachines": 3}`, "",
			`tasks: m.json:1:19: StateMachines must not be number (a mock file has`,
		},
		"no machine": {`{}`, "", `tasks: m.json: StateMachines has no "trip" (it has none)`},
		"no case":    {one(``), "x", `tasks: m.json: no test case "x" (name one behind #: c)`},
		"no response": {
			one(``), "c", `tasks: m.json: the state "S" is to answer "R", which MockedResponses does not have (it has none)`,
		},
		"bad number": {
			one(`"R": {"x": {"Return": 1}}`), "c",
			`tasks: m.json: MockedResponses/R/x: the name must be an attempt or a range of them, such as 0 or 1-2`,
		},
		"huge range": {
			one(`"R": {"0-99999999999": {"Return": 1}}`), "c",
			`tasks: m.json: MockedResponses/R/0-99999999999: the name must be an attempt`,
		},
		"both": {
			one(`"R": {"0": {"Return": 1, "Throw": {"Error": "E"}}}`), "c",
			`tasks: m.json: MockedResponses/R/0 must have one of Return and Throw`,
		},
		"no error": {one(`"R": {"0": {"Throw": {}}}`), "c", `tasks: m.json: MockedResponses/R/0/Throw must have Error`},
		"gap": {
			one(`"R": {"1": {"Return": 1}}`), "",
			`tasks: m.json: MockedResponses/R has no answer for attempt 0, but for a later one`,
		},
		"twice": {
			one(`"R": {"0-1": {"Return": 1}, "1": {"Return": 2}}`), "",
			`tasks: m.json: MockedResponses/R has two answers for attempt 1`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tasks.ParseMocks("m.json", []byte(test.text), "trip", test.testCase)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// A mocked state whose result another party would give has the result of the mock.
func TestMockedToken(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("m", []byte(`{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
		"Parameters": {"Token.$": "$$.Task.Token"}, "End": true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	mocks, err := tasks.ParseMocks("m.json", []byte(`{"StateMachines": {"m": {"TestCases": {"c": {"Ask": "R"}}}},
		"MockedResponses": {"R": {"0": {"Return": {"yes": true}}}}}`), "m", "c")
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(m.Flow(), memstore.New(), engine.WithTasks(&tasks.Registry{Mocks: mocks}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := eng.Run(t.Context(), "run")
	if err != nil || res.Output().String() != `{"yes": true}` {
		t.Errorf("%v, %v", res, err)
	}
}
