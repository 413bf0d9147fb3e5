package conformance_test

import (
	"encoding/json"
	"testing"

	"github.com/ebbflow/ebb/internal/conformance"
)

func value(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ want, got, miss string }{
		{`{"a": 1, "b": [true, null]}`, `{"b": [true, null], "a": 1.0}`, ``},
		{`{"a": 1}`, `{"a": 2}`, `.a: want 1, got 2`},
		{`{"a": 1}`, `{}`, `.a: want 1, got nothing`},
		{`{}`, `{"a": 1}`, `.a: want nothing, got 1`},
		{`[1]`, `[1, 2]`, `: want [1], got [1,2]`},
		{`[1, 2]`, `[1, 3]`, `[1]: want 2, got 3`},
		{`null`, `false`, `: want null, got false`},
		{`"1"`, `1`, `: want "1", got 1`},
		{`"«any»"`, `{"x": 1}`, ``},
		{`"a«any»c«any»"`, `"abcd"`, ``},
		{`"a«any»a"`, `"a"`, `: want "a«any»a", got "a"`},
		{`{"$json": {"a": 1}}`, `"{\"a\": 1}"`, ``},
		{`{"$json": {"a": 1}}`, `"{\"a\": 2}"`, `($json).a: want 1, got 2`},
		{`{"$text": "x"}`, `"x"`, ``},
	} {
		if got := conformance.Difference(value(t, c.want), value(t, c.got)); got != c.miss {
			t.Errorf("%s against %s: %q, want %q", c.got, c.want, got, c.miss)
		}
	}
}

func event(id, prev int64, kind, state string) conformance.Event {
	e := conformance.Event{ID: id, Prev: prev, Type: kind, Details: map[string]any{"name": state, "x": float64(1)}}
	if state != "" {
		e.State = &state
	}
	return e
}

// TestCompare checks the level up to which an outcome agrees.
func TestCompare(t *testing.T) {
	t.Parallel()
	want := []conformance.Event{event(1, 0, "ExecutionStarted", ""), event(2, 0, "FailStateEntered", "F"), event(3, 2, "ExecutionFailed", "")}
	record := conformance.Execution{Expected: conformance.Expected{Status: "FAILED", Error: new("E"), Cause: "because", Events: want, Order: "strict"}}
	change := func(do func(o *conformance.Outcome)) conformance.Outcome {
		o := conformance.Outcome{Status: "FAILED", Error: new("E"), Cause: new("because"), Events: append([]conformance.Event(nil), want...)}
		do(&o)
		return o
	}
	for level, got := range []conformance.Outcome{
		change(func(o *conformance.Outcome) { o.Error = nil }),
		change(func(o *conformance.Outcome) { o.Cause = new("") }),
		change(func(o *conformance.Outcome) { o.Events = o.Events[:2] }),
		change(func(o *conformance.Outcome) { o.Events[1].Details = map[string]any{"x": "y"} }),
		change(func(o *conformance.Outcome) { o.Events[2].Prev = 1 }),
		change(func(*conformance.Outcome) {}),
	} {
		if r := record.Compare(got); r.Level != level || (r.Miss == "") != (level == 5) {
			t.Errorf("level %d with %q, want %d", r.Level, r.Miss, level)
		}
	}
}

// TestCompareBranches shows that events of branches may be mixed in any way if each branch keeps its order.
func TestCompareBranches(t *testing.T) {
	t.Parallel()
	history := func(ids ...int64) []conformance.Event {
		all := map[int64]conformance.Event{
			2: event(2, 0, "ParallelStateEntered", "P"), 3: event(3, 2, "ParallelStateStarted", "P"),
			4: event(4, 3, "PassStateEntered", "A"), 5: event(5, 4, "PassStateExited", "A"),
			6: event(6, 3, "PassStateEntered", "B"), 7: event(7, 6, "PassStateExited", "B"),
			8: event(8, 7, "ParallelStateSucceeded", "P"), 9: event(9, 7, "ParallelStateExited", "P"),
		}
		var out []conformance.Event
		number := map[int64]int64{}
		for i, id := range ids {
			e := all[id]
			number[id] = int64(i) + 2
			e.ID, e.Prev = number[id], number[e.Prev]
			out = append(out, e)
		}
		return out
	}
	record := conformance.Execution{Expected: conformance.Expected{Status: "SUCCEEDED", Order: "per_branch", Events: history(2, 3, 4, 5, 6, 7, 8, 9)}}
	for _, c := range []struct {
		events []conformance.Event
		level  int
	}{
		{history(2, 3, 4, 6, 5, 7, 8, 9), 5},
		{history(2, 3, 6, 4, 5, 7, 8, 9), 5},
		{history(2, 3, 5, 4, 6, 7, 8, 9), 2},
		{history(2, 3, 4, 5, 6, 7, 9, 8), 2},
		{history(2, 3, 4, 5, 6, 8, 9), 2},
	} {
		if r := record.Compare(conformance.Outcome{Status: "SUCCEEDED", Events: c.events}); r.Level != c.level {
			t.Errorf("level %d with %q, want %d", r.Level, r.Miss, c.level)
		}
	}
}

// TestScript checks which answer a call gets.
func TestScript(t *testing.T) {
	t.Parallel()
	call := func(state, input, output string) *conformance.Call {
		return &conformance.Call{State: &state, Input: json.RawMessage(input), Result: conformance.Answer{Output: json.RawMessage(output)}}
	}
	record := conformance.Execution{
		Tasks:    []*conformance.Call{call("A", `1`, `"a1"`), call("A", `2`, `"a2"`), call("B", `1`, `"b1"`)},
		Handlers: map[string]string{"fn": "echo_function.py"},
	}
	s := record.Script()
	for _, c := range []struct{ state, resource, input, want string }{
		{"A", "", `2`, `"a2"`},
		{"A", "", `3`, `"a1"`},
		{"B", "", `1`, `"b1"`},
		{"B", "fn", `1`, `{"Return":"HelloWorld"}`},
		{"B", "", `1`, ``},
	} {
		a, ok := s.Next(c.state, c.resource, json.RawMessage(c.input))
		if string(a.Output) != c.want || ok != (c.want != "") {
			t.Errorf("%s of %s: %s, want %s", c.state, c.input, a.Output, c.want)
		}
	}
}
