package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// An Expression is an expression of JSONata with its result: a line of asl/jsonata.jsonl.
type Expression struct {
	Name      string
	Group     string
	Expr      string
	Data      json.RawMessage // input of the expression, or nil
	Dataset   string          // source of Data
	Bindings  map[string]json.RawMessage
	Result    json.RawMessage
	Undefined bool
	ErrorCode string `json:"error_code"`
	UsesEval  bool   `json:"uses_eval"`
	Unordered bool
	Depth     int
	TimeLimit int
}

// Expressions returns the recorded expressions, with their data.
func Expressions(tb testing.TB) []*Expression {
	tb.Helper()
	all := lines[Expression](tb, "asl/jsonata.jsonl")
	text, err := os.ReadFile(filepath.Join(Folder(tb), "asl", "jsonata-datasets.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var datasets map[string]json.RawMessage
	if err := json.Unmarshal(text, &datasets); err != nil {
		tb.Fatal(err)
	}
	for _, e := range all {
		if e.Dataset != "" {
			e.Data = datasets[e.Dataset]
		}
	}
	return all
}
