package scheduler_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/ebbflow/ebb/internal/conformance"
)

var update = flag.Bool("update", false, "rewrite the golden files from what the code gives now")

// TestDepartures plays cases of our own, in the form of the recorded ones, for
// each thing that Ebb does otherwise than TaskFlow.
func TestDepartures(t *testing.T) {
	t.Parallel()
	const file = "testdata/departures.jsonl"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		var rec conformance.TaskFlowRecord
		var raw struct {
			Name   string                       `json:"name"`
			Case   json.RawMessage              `json:"case"`
			Expect *conformance.TaskFlowOutcome `json:"expect"`
		}
		for _, into := range []any{&rec, &raw} {
			if err := json.Unmarshal(line, into); err != nil {
				t.Fatal(err)
			}
		}
		got := playCase(t, &rec)
		if miss := rec.Compare(got); miss != "" && !*update {
			t.Errorf("%s: %s", rec.Name, miss)
		}
		raw.Expect = got
		line, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
