package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/storage/memstore"
)

// triedMachines have all that mocks answer: retries, catchers, branches, items, undo, and the actions of SM4C.
var triedMachines = map[string]string{
	"retry": `{"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "exec:./pay",
		"Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 1}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Sorry"}], "End": true},
		"Sorry": {"Type": "Pass", "End": true}}}`,
	"undo": `{"StartAt": "Book", "States": {
		"Book": {"Type": "Task", "Resource": "exec:./book", "Revert": "exec:./cancel", "Next": "Both"},
		"Both": {"Type": "Parallel", "Branches": [
			{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "exec:./a", "Revert": "exec:./b", "End": true}}},
			{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 1, "End": true,
				"ItemProcessor": {"StartAt": "Item", "States": {"Item": {"Type": "Task", "Resource": "exec:./item", "End": true}}}}}}],
			"Next": "Pay"},
		"Pay": {"Type": "Task", "Resource": "exec:./pay", "End": true}}}`,
	"sm4c": `{"name": "order", "version": "1.0", "specVersion": "0.8",
		"functions": [{"name": "pay", "operation": "exec:./pay", "type": "task"}],
		"states": [{"name": "Pay", "type": "operation", "start": true, "actions": [{"name": "Pay", "functionRef": "pay"}], "end": true}]}`,
}

// triedMocks are files of Step Functions Local.
var triedMocks = map[string]string{
	"paid": `{"Pay": {"0": {"Throw": {"Error": "Busy"}}, "1-9": {"Return": {"receipt": 12345678901234567890}}},
		"Book": {"0": {"Return": "B-1"}}, "A": {"0": {"Return": 1}}, "Item": {"0": {"Return": {"n": 1}}}}`,
	"refused": `{"Pay": {"0-9": {"Throw": {"Error": "Refused", "Cause": "no money"}}},
		"Book": {"0": {"Return": "B-1"}}, "A": {"0": {"Return": 1}}, "Item": {"0": {"Return": {"n": 1}}}}`,
}

// TestTryLikeRun: the API tries a definition as ebb run runs it with the same mocks.
func TestTryLikeRun(t *testing.T) {
	t.Parallel()
	w := newAPIWorld(t, memstore.New(), nil)
	type ending struct {
		State, Outcome, Undo string
		Output               json.RawMessage
		Error                any
	}
	const input = `{"items": ["a", "b"]}`
	for name, text := range triedMachines {
		for testCase, responses := range triedMocks {
			dir := t.TempDir()
			mocks := fmt.Sprintf(`{"StateMachines": {%q: {"TestCases": {%q: {"Pay": "Pay", "Book": "Book", "A": "A", "Item": "Item"}}}},
				"MockedResponses": %s}`, name, testCase, responses)
			file := filepath.Join(dir, name+".json")
			for to, text := range map[string]string{file: text, filepath.Join(dir, "mocks"): mocks} {
				if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			dsn := "--dsn=sqlite:" + filepath.Join(dir, "ebb.db")
			ebb(t, dir, "run", dsn, file, "--id", "r", "--input", input, "--mock", filepath.Join(dir, "mocks"), "--case", testCase, "-o", "json")
			var ran ending
			if err := json.NewDecoder(bytes.NewReader(ebb(t, dir, "show", dsn, "r", "-o", "json"))).Decode(&ran); err != nil {
				t.Fatal(err)
			}
			for what, mocks := range map[string]string{"file": mocks, "states": responses} {
				answer := w.ask(http.StatusOK, http.MethodPost, "try", "", object(t, map[string]any{
					"flow": name, "text": text, "input": json.RawMessage(input), "mocks": json.RawMessage(mocks), "case": testCase,
				}))
				var tried struct{ Run ending }
				if err := json.Unmarshal([]byte(object(t, answer)), &tried); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(plain(t, ran), plain(t, tried.Run)); diff != "" || ran.State == "" {
					t.Errorf("%s, %s, mocks by %s: ebb run (-) and try (+) differ:\n%s", name, testCase, what, diff)
				}
			}
		}
	}
}

// plain returns a value as JSON with large numbers as the decoder of the test reads them.
func plain(t *testing.T, v any) string {
	t.Helper()
	var out any
	if err := json.Unmarshal([]byte(object(t, map[string]any{"": v})), &out); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// TestTryEnds: a machine that goes round for ever, or grows without end, is ended by a limit of the run, or by the time
// that a busy machine takes to reach it.
func TestTryEnds(t *testing.T) {
	t.Parallel()
	w := newAPIWorld(t, memstore.New(), nil)
	for name, text := range map[string]string{
		"round":  `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "C"}, "C": {"Type": "Choice", "Choices": [{"Variable": "$$.State.Name", "StringEquals": "x", "Next": "Z"}], "Default": "A"}, "Z": {"Type": "Succeed"}}}`,
		"waits":  `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 9, "Next": "C"}, "C": {"Type": "Choice", "Choices": [{"Variable": "$$.State.Name", "StringEquals": "x", "Next": "Z"}], "Default": "A"}, "Z": {"Type": "Succeed"}}}`,
		"grows":  `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Parameters": {"a.$": "$", "b.$": "$"}, "Next": "C"}, "C": {"Type": "Choice", "Choices": [{"Variable": "$$.State.Name", "StringEquals": "x", "Next": "Z"}], "Default": "A"}, "Z": {"Type": "Succeed"}}}`,
		"answer": `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:111111111111:activity:x", "End": true}}}`,
	} {
		body := strings.NewReader(object(t, map[string]any{"text": text}))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/try", body)
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		var tried struct {
			Waiting bool
			Run     struct{ State string }
			Detail  string
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &tried); err != nil {
			t.Fatal(err)
		}
		ended := tried.Run.State == "FAILURE" || strings.Contains(tried.Detail, "did not end in time")
		if waits := name == "answer"; tried.Waiting != waits || ended == waits {
			t.Errorf("%s: %d %+v", name, rec.Code, tried)
		}
	}
}
