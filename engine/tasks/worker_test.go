package tasks_test

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
)

// TestWorker: a resource worker:KIND, or one that is mapped to it, is work of that kind for workers, to execute and to
// revert. Mocked states, and tasks inside other tasks, are not.
func TestWorker(t *testing.T) {
	t.Parallel()
	r := &tasks.Registry{}
	r.Map("pay", "worker:charge")
	queue := func(name, path string) string {
		t.Helper()
		body, err := r.Task(name)
		if err != nil {
			t.Fatal(err)
		}
		q, ok := body.(atom.Queued)
		if !ok || !body.Reverts() {
			t.Fatalf("%s is %T", name, body)
		}
		if back := q.Queue(&atom.Call{Path: path, Revert: true}); back != q.Queue(&atom.Call{Path: path}) {
			t.Errorf("%s is undone by %q", name, back)
		}
		return q.Queue(&atom.Call{Path: path})
	}
	for name, want := range map[string]string{
		"worker:charge": "charge", "pay": "charge",
		"worker:arn:aws:x": "arn:aws:x",
	} {
		if got := queue(name, "Pay"); got != want {
			t.Errorf("%s is work of the kind %q, want %q", name, got, want)
		}
	}
	var err error
	if r.Mocks, err = tasks.ParseMocks("m.json", []byte(`{"StateMachines":{"m":{"TestCases":{"c":{"Pay":"Paid"}}}},
		"MockedResponses":{"Paid":{"0":{"Return":1}}}}`), "m", "c"); err != nil {
		t.Fatal(err)
	}
	if got := queue("worker:charge", "Pay"); got != "" {
		t.Errorf("a mocked state is work of the kind %q", got)
	}
	if got := queue("worker:charge", "Fork[0]/Book#2"); got != "charge" {
		t.Errorf("another state is work of the kind %q", got)
	}
	if _, err := (&tasks.Registry{}).Task("worker:"); err == nil || !strings.Contains(err.Error(),
		"such as worker:charge") {
		t.Errorf("without a kind: %v", err)
	}
	if _, err := atom.Work("charge").Execute(t.Context(), atom.Values{}); err == nil {
		t.Error("it was done here")
	}
	if _, err := atom.Work("charge").Revert(t.Context(), atom.Values{}, atom.Unknown[atom.Value]()); err == nil {
		t.Error("it was undone here")
	}
}
