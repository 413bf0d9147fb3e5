package saga_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A trial does the tasks of one run and records them. One task fails. Of a task's name, what follows the last blank
// or colon names the work, and the rest says whether it is done or undone.
type trial struct {
	bad     string // the task that fails
	expires bool   // it reaches its time limit

	mu     sync.Mutex
	did    []deed
	undone []deed
	end    string // how the run ended: the failure, or the output
}

// A deed is a call of a task.
type deed struct {
	task, line string // line: the path of the branch or iteration
	input      string
	report     map[string]any // of an undo
}

func (w *trial) Task(name string) (atom.Body, error) { return trialTask{w, name}, nil }

type trialTask struct {
	trial *trial
	name  string
}

// Execute returns a result that depends on the task and its input alone.
func (s trialTask) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	if strings.Contains(string(in.Input().JSON()), `"Outcome"`) || strings.Contains(s.name, "cancel") {
		return s.Revert(ctx, in, atom.Outcome[atom.Value]{})
	}
	w := s.trial
	path := atom.CurrentCall(ctx).Path
	d := deed{task: s.name, line: path[:strings.LastIndex("/"+path, "/")], input: plainJSON(in.Input())}
	w.mu.Lock()
	w.did = append(w.did, d)
	w.mu.Unlock()
	switch {
	case s.name != w.bad:
	case w.expires:
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Hour): // it has no time limit
		}
		fallthrough
	default:
		return nil, atom.Errorf("Broken", "it is broken")
	}
	h := fnv.New32()
	_, _ = h.Write([]byte(d.task + d.input))
	return atom.FromJSON(fmt.Appendf(nil, `{"n": %d, "list": [[%[1]d]]}`, h.Sum32())), nil
}

// Revert records the input of what undoes a task.
func (s trialTask) Revert(_ context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	w := s.trial
	d := deed{task: s.name}
	if err := json.Unmarshal(in.Input().JSON(), &d.report); err != nil {
		return nil, err
	}
	if inner, is := d.report["report"].(map[string]any); is {
		d.report = inner
	}
	if input, told := d.report["Input"]; told {
		text, _ := json.Marshal(input)
		d.input = string(text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.undone = append(w.undone, d)
	return atom.Null, nil
}

func (trialTask) Reverts() bool { return true }

func plainJSON(v atom.Value) string {
	var x any
	if json.Unmarshal(v.JSON(), &x) != nil {
		return "?"
	}
	text, _ := json.Marshal(x)
	return string(text)
}

// try runs a machine.
func try(t *testing.T, text []byte, bad string, expires bool, opts ...asl.Option) *trial {
	t.Helper()
	w := &trial{bad: bad, expires: expires}
	m, err := asl.Parse("m", text, opts...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	synctest.Test(t, func(t *testing.T) {
		eng, err := engine.New(m.Flow(), memstore.New(), engine.WithTasks(w))
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{"items": [[1], 2, {"x": 3}], "one": [[7]], "seven": 7}`))))
		if res == nil {
			t.Fatal(err)
		}
		w.end = plainJSON(res.Output())
		if failure := res.Run.Failure; failure != nil {
			if w.end = failure.Code + ": " + failure.Message; failure.Code == "States.Runtime" {
				w.end = failure.Code // its message has the number of an event
			}
		}
	})
	return w
}

// is reports whether two calls do or undo the same work. What undoes a task may not be told its input.
func (d *deed) is(other *deed) bool {
	name := func(d *deed) string { return d.task[strings.LastIndexAny(d.task, " :")+1:] }
	return name(d) == name(other) && (d.input == other.input || d.input == "" || other.input == "")
}

// judge compares the trial of a plain machine with that of the machine that it was made of.
func (w *trial) judge(plain *trial) string {
	if w.end != plain.end {
		return fmt.Sprintf("it ends with %s, plain with %s\n%v\n%v", w.end, plain.end, w.did, plain.did)
	}
	index := func(deeds []deed, of *deed) int {
		return slices.IndexFunc(deeds, func(d deed) bool { return d.is(of) })
	}
	for i := range w.undone {
		d := &w.undone[i]
		k := index(plain.undone, d)
		if k < 0 {
			return fmt.Sprintf("plain does not undo %s %s", d.task, d.input)
		}
		if diff := cmp.Diff(d.report, plain.undone[k].report); diff != "" && (d.report["Outcome"] != "Unknown" || w.expires && d.is(&deed{task: w.bad})) {
			return fmt.Sprintf("%s is told (-with Revert +plain):\n%s", d.task, diff)
		}
		if plain.undone[k].task != d.task {
			return d.task + " became " + plain.undone[k].task
		}
	}
	count := func(deeds []deed, of *deed) (n int) {
		for i := range deeds {
			if deeds[i].is(of) {
				n++
			}
		}
		return n
	}
	for i := range plain.undone {
		d := &plain.undone[i]
		if count(plain.undone[:i+1], d) > count(plain.did, d) {
			return fmt.Sprintf("plain undoes %s %s, which was not done, or twice", d.task, d.input)
		}
		if index(w.did, d) >= 0 && index(w.undone, d) < 0 {
			return fmt.Sprintf("only plain undoes %s %s", d.task, d.input)
		}
		for j := range plain.undone[:i] {
			before := &plain.undone[j]
			if count(plain.did, d) > 1 || count(plain.did, before) > 1 {
				continue // which one it undoes cannot be told
			}
			did, later := index(plain.did, d), index(plain.did, before)
			line, other := plain.did[did].line, plain.did[later].line
			if did > later && (strings.HasPrefix(line, other) || strings.HasPrefix(other, line)) {
				return fmt.Sprintf("plain undoes %s %s too late", d.task, d.input)
			}
		}
	}
	return ""
}

// plainly compares a machine with its plain form: nothing fails, and each task fails.
func plainly(t *testing.T, name string, text []byte) (compared int, problem string) {
	t.Helper()
	plain, _, err := asl.Plain(name, text)
	if err != nil {
		return 0, err.Error()
	}
	if problems := asl.Validate("plain", plain, asl.Strict(), asl.ForAWS()); len(problems) > 0 {
		return 0, fmt.Sprintf("AWS would not take it: %v\n%s", problems, plain)
	}
	all := try(t, text, "", false)
	bad := []string{""}
	for _, d := range all.did {
		bad = append(bad, d.task)
	}
	for _, task := range slices.Compact(bad) {
		for _, expires := range []bool{false, true} {
			ours, theirs := try(t, text, task, expires), try(t, plain, task, expires)
			if problem := ours.judge(theirs); problem != "" {
				return compared, fmt.Sprintf("%q fails, %t: %s\n%s\n%s", task, expires, problem, text, plain)
			}
			compared += len(ours.undone)
		}
	}
	return compared, ""
}

// TestPlain: of random machines and of the examples, the plain form undoes the same work with the same inputs,
// whichever task fails or reaches its time limit, and in the same order within a line. Siblings of what failed may do
// more, which is undone too. AWS's rules accept the plain form.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"03_trip/trip.asl.json", "07_worker_python/checkout.asl.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, problem := plainly(t, name, text); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
	if _, problem := plainly(t, "late", []byte(lateBranch)); problem != "" {
		t.Error(problem)
	}
	undone := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := sagaMachine{t: rt, jsonata: rapid.Bool().Draw(rt, "JSONata")}
		language := ""
		if d.jsonata {
			language = `"QueryLanguage": "JSONata", `
		}
		n, problem := plainly(t, "m", []byte("{"+language+d.level(sagaDepth)+"}"))
		if problem != "" {
			rt.Fatal(problem)
		}
		undone += n
	})
	if undone < 100 {
		t.Errorf("only %d tasks were undone", undone)
	}
}

// lateBranch fails with the error of its second branch, because its first one fails later.
const lateBranch = `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "do:1", "Revert": "undo:1", "Next": "P"},
	"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 2, "Next": "C"}, "C": {"Type": "Fail", "Error": "Late"}}},
		{"StartAt": "D", "States": {"D": {"Type": "Task", "Resource": "do:2", "TimeoutSeconds": 1, "Revert": "undo:2", "Next": "E"},
			"E": {"Type": "Wait", "Seconds": 1, "Next": "F"}, "F": {"Type": "Fail", "Error": "Early", "Cause": "first"}}}]}}}`

const sagaDepth = 2 // levels inside each other

// A sagaMachine draws levels of states. Some states have levels inside.
type sagaMachine struct {
	t       *rapid.T
	jsonata bool // the QueryLanguage of the machine
	names   int
	mapped  bool // a Map is around
}

func (d *sagaMachine) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(d.t, label)
}

func (d *sagaMachine) level(depth int) string {
	n := rapid.IntRange(1, 3).Draw(d.t, "states")
	first := d.names
	d.names += n
	var all []string
	for i := range n {
		end, catch := `"End": true`, ""
		// Only at the top, for which of two branches fails first at one instant is not fixed.
		if depth == sagaDepth && i+1 == n && d.one("fail", "", "", "", "", "Fail") != "" {
			all = append(all, fmt.Sprintf(`"S%d": {"Type": "Fail", "Error": "Ended", "Cause": "here"}`, first+i))
			continue
		}
		if depth == sagaDepth && i+1 < n && d.one("choice", "", "", "", "", "", "Choice") != "" {
			of := rapid.IntRange(7, 8).Draw(d.t, "seven") // no rule holds for 8
			rule := fmt.Sprintf(`"Variable": "$$.Execution.Input.seven", "NumericEquals": %d`, of)
			if d.jsonata {
				rule = fmt.Sprintf(`"Condition": "{%% $states.context.Execution.Input.seven = %d %%}"`, of)
			}
			all = append(all, fmt.Sprintf(`"S%d": {"Type": "Choice", "Choices": [{%s, "Next": "S%d"}]}`, first+i, rule, first+i+1))
			continue
		}
		if i+1 < n {
			next := fmt.Sprintf("S%d", first+i+1)
			end = fmt.Sprintf(`"Next": %q`, next)
			catch = d.one("catch", "", "", fmt.Sprintf(`, "Catch": [{"ErrorEquals": ["Broken"], "Next": %q}]`, next))
		}
		all = append(all, fmt.Sprintf(`"S%d": {%s, %s}`, first+i, d.state(first+i, depth, catch), end))
	}
	return fmt.Sprintf(`"StartAt": "S%d", "States": {%s}`, first, strings.Join(all, ", "))
}

func (d *sagaMachine) state(n, depth int, catch string) string {
	jsonata, own := d.jsonata, ""
	if !d.jsonata && d.one("language", "JSONPath", "JSONata") == "JSONata" {
		jsonata, own = true, `"QueryLanguage": "JSONata", `
	}
	kinds := []string{"Task", "Task", "Task", "Pass"}
	if depth > 0 {
		kinds = append(kinds, "Parallel", "Map")
	}
	data := d.one("data", "", `, "ResultPath": null`, `, "ResultSelector": {"all.$": "$"}`,
		`, "ResultSelector": {"all.$": "$"}, "OutputPath": "$.all"`) +
		d.one("assign", "", fmt.Sprintf(`, "Assign": {"v%d.$": "$"}`, n))
	if jsonata {
		data = d.one("data", "", `, "Output": {"all": "{% $states.result %}"}`) +
			d.one("assign", "", fmt.Sprintf(`, "Assign": {"v%d": "{%% $states.result %%}"}`, n))
	}
	switch d.one("kind", kinds...) {
	case "Parallel":
		return own + `"Type": "Parallel", "Branches": [{` + d.level(depth-1) + `}, {` + d.level(depth-1) + `}]` + data + catch
	case "Map":
		if d.mapped {
			return own + `"Type": "Pass"` // inside another Map, two tasks would have the same input
		}
		d.mapped = true
		defer func() { d.mapped = false }()
		of := d.one("items", "items", "one")
		items := `"ItemsPath": "$$.Execution.Input.` + of + `"`
		if jsonata {
			items = `"Items": "{% $states.context.Execution.Input.` + of + ` %}"`
		}
		return own + `"Type": "Map", ` + items + fmt.Sprintf(`, "MaxConcurrency": %d, "ItemProcessor": {%s}`,
			rapid.IntRange(1, 3).Draw(d.t, "at once"), d.level(depth-1)) + data + catch
	case "Pass":
		return own + `"Type": "Pass"`
	}
	arguments, told := d.one("parameters", "", `, "Parameters": {"given.$": "$"}`, `, "InputPath": "$$.Execution.Input"`), `"Parameters": {"report.$": "$"}`
	if d.mapped && strings.Contains(arguments, "Execution") {
		arguments = "" // two iterations would have the same input
	}
	if jsonata {
		arguments, told = d.one("arguments", "", `, "Arguments": {"given": "{% $states.input %}"}`), `"Arguments": {"report": "{% $states.input %}"}`
	}
	retry := d.one("retry", "", "", `, "Retry": [{"ErrorEquals": ["Broken"], "MaxAttempts": 1}]`)
	pivot := ""
	if depth == sagaDepth {
		pivot = `, "Revert": false`
	}
	revert := d.one("revert", pivot, fmt.Sprintf(`, "Revert": "undo:%d"`, n), fmt.Sprintf(`, "Revert": "undo:%d"`, n),
		fmt.Sprintf(`, "Revert": {"Resource": "undo:%d", %s}`, n, told), `, "Revert": "none"`, "")
	return own + fmt.Sprintf(`"Type": "Task", "Resource": "do:%d", "TimeoutSeconds": 9%s%s%s`, n, arguments, revert, retry) + data + catch
}
