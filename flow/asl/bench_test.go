package asl_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
)

// BenchmarkLoop walks through a counter loop of 1,000 iterations, history
// included: 2,001 states. Add counts in both query languages.
func BenchmarkLoop(b *testing.B) {
	for name, definition := range map[string]string{
		"Add": `{"StartAt": "More?", "States": {
			"More?": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericLessThan": 1000, "Next": "Add"}], "Default": "Done"},
			"Add": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)"}, "Next": "More?"},
			"Done": {"Type": "Succeed"}}}`,
		"AddJSONata": `{"QueryLanguage": "JSONata", "StartAt": "More?", "States": {
			"More?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.n < 1000 %}", "Next": "Add"}], "Default": "Done"},
			"Add": {"Type": "Pass", "Output": {"n": "{% $states.input.n + 1 %}"}, "Next": "More?"},
			"Done": {"Type": "Succeed"}}}`,
		"Pop": counter,
	} {
		b.Run(name, func(b *testing.B) {
			m := parse(b, definition)
			input := `{"n": 0, "left": [` + strings.Repeat("0,", 999) + `0]}`
			if strings.HasPrefix(name, "Add") {
				input = `{"n": 0}`
			}
			run := &grow.RunInfo{ID: "run-1", Flow: "test", Started: epoch, Input: atom.FromJSON([]byte(input))}
			b.ReportAllocs()
			for b.Loop() {
				walkAll(b, m, run)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2001, "ns/transition")
		})
	}
}

// BenchmarkPass walks through a chain of 400 states that pass on their input.
func BenchmarkPass(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"StartAt": "S0", "States": {`)
	for i := range 400 {
		text.WriteString(`"S` + strconv.Itoa(i) + `": {"Type": "Pass", "Next": "S` + strconv.Itoa(i+1) + `"}, `)
	}
	text.WriteString(`"S400": {"Type": "Succeed"}}}`)
	m := parse(b, text.String())
	run := &grow.RunInfo{ID: "run-1", Flow: "test", Started: epoch, Input: atom.FromJSON([]byte(`{"order": {"id": "o-1", "total": 12.5}, "lines": [1, 2, 3]}`))}
	b.ReportAllocs()
	for b.Loop() {
		walkAll(b, m, run)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/401, "ns/transition")
}

// BenchmarkTask takes a Task state with Parameters and ResultPath through its
// two questions.
func BenchmarkTask(b *testing.B) {
	m := parse(b, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "exec:x", "Parameters": {"id.$": "$.id", "fixed": 1}, "ResultPath": `+
		`"$.r", "End": true}}}`)
	run := &grow.RunInfo{ID: "run-1", Flow: "test", Started: epoch, Input: atom.FromJSON([]byte(`{"id": 7, "list": [1, 2, 3]}`))}
	result := atom.FromJSON([]byte(`{"ok": true}`))
	b.ReportAllocs()
	for b.Loop() {
		g := m.Grow(&grow.Ask{Run: run, Index: -1, Now: epoch, Event: 1, Cause: grow.Cause{Kind: grow.Begin, Input: run.Input}})
		g = m.Grow(&grow.Ask{Run: run, Index: -1, Now: epoch, Event: 5, Cause: grow.Cause{
			Kind: grow.Ended, Name: "S", Note: g.Add[0].Note, Result: result,
			Attempt: 1,
		}})
		if g.End == nil || g.End.Failure != nil {
			b.Fatal("no end")
		}
	}
}

// walkAll asks until the run ends; nothing in it waits.
func walkAll(b *testing.B, m grow.Language, run *grow.RunInfo) {
	ask := &grow.Ask{Run: run, Index: -1, Now: epoch, Event: 1, Cause: grow.Cause{Kind: grow.Begin, Input: run.Input}}
	for {
		g := m.Grow(ask)
		ask.Event += int64(len(g.Events))
		if g.End != nil {
			if g.End.Failure != nil {
				b.Fatal(g.End.Failure)
			}
			return
		}
		ask.Cause = grow.Cause{Kind: grow.Continue, Note: g.More}
	}
}

// BenchmarkValidate checks a definition of 50 states.
func BenchmarkValidate(b *testing.B) {
	var states strings.Builder
	for i := range 49 {
		fmt.Fprintf(&states, `"S%d": {"Type": "Task", "Resource": "exec:./x", "Parameters": {"a.$": "$.a[0].b", "b": {"c.$": "States.Format('{}', $.x)"}}, `+
			`"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}], "Next": "S%d"}, `, i, i+1)
	}
	text := []byte(`{"StartAt": "S0", "States": {` + states.String() + `"S49": {"Type": "Succeed"}}}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if problems := asl.Validate("bench", text); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
