package tasks_test

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
)

// FuzzParseMocks reads any file as mocks. The file is refused with its name, or answers.
func FuzzParseMocks(f *testing.F) {
	f.Add(mockText, "paid")
	f.Add(`{"StateMachines": {"m": {"TestCases": {"c": {"S": "R"}}}}, "MockedResponses": {"R": {"0-9": {"Return": null}}}}`, "")
	f.Add("{\n", "x")
	f.Fuzz(func(t *testing.T, text, testCase string) {
		mocks, err := tasks.ParseMocks("m.json", []byte(text), "trip", testCase)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "tasks: m.json") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		body, err := (&tasks.Registry{Mocks: mocks}).Task("exec:true")
		if err != nil {
			t.Fatal(err)
		}
		ctx := calling(t, atom.Call{Path: "S", Attempt: 1})
		if mocks.Covers("S") {
			_, _ = body.Execute(ctx, atom.Single(atom.Null)) // any answer will do
		}
	})
}

// FuzzTask looks for tasks of any name. It gets one, or an error that names it.
func FuzzTask(f *testing.F) {
	for _, name := range []string{
		"exec:./book.sh 'a b' c", "exec:\"", "https://example.org/x?y", "http://[::1", "local",
		"arn:aws:lambda:::function:F", "",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		var r tasks.Registry
		body, err := r.Task(name)
		if (body == nil) == (err == nil) {
			t.Fatalf("got %v, %v", body, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "tasks: ") {
			t.Errorf("not told whose error it is: %v", err)
		}
	})
}
