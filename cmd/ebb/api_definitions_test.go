package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/cmd/ebb/internal/command"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage/memstore"
)

// payMachine retries a payment after an hour, and then waits for a day.
const payMachine = `{"StartAt": "Pay", "States": {
	"Pay": {"Type": "Task", "Resource": "exec:./pay", "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 3600}], "Next": "Day"},
	"Day": {"Type": "Wait", "Seconds": 86400, "Next": "Done"},
	"Done": {"Type": "Pass", "End": true}}}`

func object(t *testing.T, members map[string]any) string {
	t.Helper()
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// events reads the events of a machine in pages, and those of a flow of Go, which has none.
func (w *apiWorld) events(store backend.Store) {
	w.Helper()
	m, err := asl.Parse("pass", []byte(`{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`))
	if err != nil {
		w.Fatal(err)
	}
	e, err := engine.New(m.Flow(), store)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := e.Run(w.Context(), "pass"); err != nil {
		w.Fatal(err)
	}
	var types []any
	for query := "pass|limit=3"; query != ""; {
		page := w.ask(http.StatusOK, http.MethodGet, "runs/{run}/events", query, "")
		for _, event := range list(page, "events") {
			types = append(types, event.(map[string]any)["type"])
		}
		query = ""
		if next, more := page["next"]; more {
			query = fmt.Sprintf("pass|limit=3&after=%v", next)
		}
	}
	if fmt.Sprint(types) != "[ExecutionStarted PassStateEntered PassStateExited ExecutionSucceeded]" {
		w.Errorf("the events are %v", types)
	}
	if none := w.ask(http.StatusOK, http.MethodGet, "runs/{run}/events", "", ""); len(list(none, "events")) != 0 {
		w.Errorf("the events of a flow of Go are %v", none)
	}
}

// definitions checks, tries and stores definitions.
func (w *apiWorld) definitions(store backend.Store) {
	w.Helper()
	post := func(status int, route string, members map[string]any) map[string]any {
		w.Helper()
		return w.ask(status, http.MethodPost, route, "", object(w.T, members))
	}
	valid := post(http.StatusOK, "validate", map[string]any{"text": payMachine})
	graph, _ := valid["graph"].(map[string]any)
	if valid["result"] != "OK" || len(list(graph, "nodes")) != 5 || fmt.Sprint(valid["calls"]) != "[Pay]" {
		w.Errorf("it is %v", valid)
	}
	wrong := post(http.StatusOK, "validate", map[string]any{"text": strings.Replace(payMachine, `"Next": "Done"`, `"Next": "Dome"`, 1)})
	if d := list(wrong, "diagnostics"); wrong["result"] != "FAIL" || len(d) == 0 || d[0].(map[string]any)["line"] != 3.0 {
		w.Errorf("it is %v", wrong)
	}
	post(http.StatusOK, "validate", map[string]any{"text": "StartAt: A\nStates: {A: {Type: Succeed}}", "strict": true, "type": "EXPRESS"})
	post(http.StatusBadRequest, "validate", map[string]any{"text": payMachine, "type": "SLOW"})

	tried := post(http.StatusOK, "try", map[string]any{"text": payMachine, "mocks": map[string]any{
		"Pay": map[string]any{"0": map[string]any{"Throw": map[string]any{"Error": "Busy"}}, "1": map[string]any{"Return": 7}},
	}})
	run, _ := tried["run"].(map[string]any)
	if tried["took"] != "25h0m0s" || run["state"] != "SUCCESS" || fmt.Sprint(tried["entered"]) != "[Pay Day Done]" {
		w.Errorf("it tried %v", tried)
	}
	if got := post(http.StatusOK, "try", map[string]any{"text": payMachine}); !strings.Contains(fmt.Sprint(got["run"]), "nothing is called here") {
		w.Errorf("without a mock it does %v", got)
	}
	post(http.StatusBadRequest, "try", map[string]any{"text": "{"})
	post(http.StatusBadRequest, "try", map[string]any{"text": payMachine, "mocks": map[string]any{"Pay": 3}})

	definition := map[string]any{"flow": "shop", "text": payMachine, "newest": 0, "schema": map[string]any{"type": "object"}}
	for range 2 { // the second changes nothing
		if got := post(http.StatusOK, "definitions", definition); got["version"] != 1.0 {
			w.Errorf("it stored %v", got)
		}
	}
	definition["text"] = payMachine + " "
	post(http.StatusConflict, "definitions", definition)
	definition["newest"] = 1
	hash, _ := post(http.StatusOK, "definitions", definition)["definition"].(string)
	if got := w.ask(http.StatusOK, http.MethodGet, "definitions/{definition}", hash+"|", ""); got["version"] != 2.0 || got["schema"] == nil {
		w.Errorf("it stored %v", got)
	}
	if network, err := api.FromNetwork(w.Context(), store, hash); err != nil || !network {
		w.Errorf("the definition is the operator's: %v", err)
	}
	w.ask(http.StatusOK, http.MethodGet, "definitions/{definition}/graph", hash+"|", "")
	w.ask(http.StatusNotFound, http.MethodGet, "definitions/{definition}/graph", "", "")
	if drawn := w.ask(http.StatusOK, http.MethodGet, "runs/{run}/graph", "", ""); !strings.Contains(fmt.Sprint(drawn), "SUCCESS") {
		w.Errorf("the graph of the run is %v", drawn)
	}
	for _, resource := range []string{"exec:./pay.sh", "https://evil.example/", "file:///etc/passwd", "worker:theirs"} {
		definition["text"] = strings.Replace(payMachine, `"Resource": "exec:./pay"`, `"Resource": "`+resource+`"`, 1)
		delete(definition, "newest")
		if got := post(http.StatusForbidden, "definitions", definition); !strings.Contains(fmt.Sprint(got["detail"]), "2:") {
			w.Errorf("%s is refused without a place: %v", resource, got)
		}
	}
	for _, bad := range []map[string]any{
		{"text": payMachine},
		{"flow": "ebb.bulk", "text": payMachine},
		{"flow": "a\x00b", "text": payMachine},
		{"flow": "shop", "text": "{}"},
		{"flow": "shop", "text": payMachine, "schema": 3},
		{"flow": strings.Repeat("x", 300), "text": payMachine},
	} {
		post(http.StatusBadRequest, "definitions", bad)
	}
	if all := w.ask(http.StatusOK, http.MethodGet, "definitions", "flow=shop", ""); len(list(all, "definitions")) != 2 {
		w.Errorf("there are %v", all)
	}
}

// ebb runs a command in this process, and returns its output.
func ebb(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	out, err := os.CreateTemp(dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	command.Execute(t.Context(), session.New(os.Stdin, out, os.Stderr), args)
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestConformanceAPIValidation compares the problems that the API reports with those of ebb validate.
func TestConformanceAPIValidation(t *testing.T) {
	t.Parallel()
	tally := conformance.NewAspects("api/validation")
	w := newAPIWorld(t, memstore.New(), nil)
	dir := t.TempDir()
	for _, kind := range []string{"STANDARD", "EXPRESS"} {
		args := []string{"validate", "-o", "json", "--type", kind}
		byAPI := map[string][]flow.Diagnostic{}
		for i, record := range conformance.Verdicts(t) {
			if (record.Type == "EXPRESS") != (kind == "EXPRESS") {
				continue
			}
			file := filepath.Join(dir, fmt.Sprintf("%d.asl.json", i))
			if err := os.WriteFile(file, record.Source(), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, file)
			var answer struct{ Diagnostics []flow.Diagnostic }
			text, err := json.Marshal(w.ask(http.StatusOK, http.MethodPost, "validate", "",
				object(t, map[string]any{"text": string(record.Source()), "type": kind})))
			if err == nil {
				err = json.Unmarshal(text, &answer)
			}
			if err != nil {
				t.Fatal(err)
			}
			byAPI[file] = answer.Diagnostics
		}
		var printed struct{ Diagnostics []flow.Diagnostic }
		if err := json.NewDecoder(bytes.NewReader(ebb(t, dir, args...))).Decode(&printed); err != nil {
			t.Fatal(err)
		}
		byCommand := map[string][]flow.Diagnostic{}
		for _, d := range printed.Diagnostics {
			file := d.File
			d.File = ""
			byCommand[file] = append(byCommand[file], d)
		}
		for file, problems := range byAPI {
			miss := ""
			if !slices.Equal(problems, byCommand[file]) {
				miss = cmp.Diff(byCommand[file], problems)
				t.Errorf("%s: ebb validate (-) and the API (+) differ:\n%s", file, miss)
			}
			tally.Count("equal", filepath.Base(file), miss)
		}
	}
	tally.Print(t)
	tally.Demand(t, "equal", 1)
}
