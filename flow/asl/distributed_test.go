package asl_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
)

// stock is a world with items to read, and the objects that were written.
type stock struct {
	items  []string // JSON
	wrote  map[string]string
	breaks string // name of the task that fails
}

func (s *stock) task(c call) answer {
	if c.resource == s.breaks {
		return answer{failure: &atom.Failure{Code: atom.CodeError, Message: "it broke"}}
	}
	switch c.resource {
	case asl.ReadItems:
		return s.read(c.input)
	case asl.WriteObjects:
		return s.write(c.input)
	case "local:fail":
		var n int
		if c.input.Decode(&n) == nil && n >= 100 {
			return answer{failure: &atom.Failure{Code: "TooMany", Message: c.input.String()}}
		}
	}
	return answer{output: c.input.String()}
}

func (s *stock) read(input atom.Value) answer {
	var q asl.ItemQuery
	if err := input.Decode(&q); err != nil {
		return answer{failure: &atom.Failure{Code: "Bad", Message: err.Error()}}
	}
	from, _ := strconv.Atoi(q.From)
	page := asl.ItemPage{Items: []asl.Item{}}
	for i := from; i < len(s.items) && len(page.Items) < q.Limit; i++ {
		page.Items = append(page.Items, asl.Item{Value: json.RawMessage(s.items[i]), Source: "S3://b/k", Next: strconv.Itoa(i + 1)})
	}
	page.End = from+len(page.Items) == len(s.items)
	return answer{output: atom.MustEncode(page).String()}
}

func (s *stock) write(input atom.Value) answer {
	var w asl.ObjectWrite
	if err := input.Decode(&w); err != nil {
		return answer{failure: &atom.Failure{Code: "Bad", Message: err.Error()}}
	}
	if s.wrote == nil {
		s.wrote = map[string]string{}
	}
	for _, part := range w.Parts {
		name := part.Key[strings.LastIndexByte(part.Key, '/')+1:]
		s.wrote[name] = s.wrote[name][:part.Offset] + part.Text
	}
	return answer{output: "null"}
}

const (
	fromBucket = `"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "k"}, "ReaderConfig": {"InputType": "JSON"%s}},`
	toBucket   = `"ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "out", "Prefix": "p"}%s},`
	each       = `"Do": {"Type": "Task", "Resource": "local:fail", "End": true}`
)

func reads(config string) string { return fmt.Sprintf(fromBucket, config) }

// distributedMachine is a machine of one distributed Map state E.
func distributedMachine(tb testing.TB, language, fields, execution, states string) *asl.Machine {
	tb.Helper()
	m, err := asl.Parse("m", []byte(`{"StartAt": "E", "QueryLanguage": "`+language+`", "States": {"E": {"Type": "Map", "End": true, `+fields+`
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "`+execution+`"}, "StartAt": "Do", "States": {`+states+`}}}}}`))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// TestDistributedMap runs distributed Maps over items in the input and in a bucket.
func TestDistributedMap(t *testing.T) {
	t.Parallel()
	const exceeded = `States.ExceedToleratedFailureThreshold: The specified tolerated failure threshold was exceeded`
	in := func(cause string) string {
		return "States.Runtime: An error occurred while executing the state 'E' (entered at the event id #2). " + cause
	}
	cases := []struct {
		name, fields, input string
		language            string // "" is JSONPath
		states              string // "" fails items from 100 on
		items               []string
		want                string
		children            int
	}{
		{name: "input", input: `[1, 2, 3]`, want: `[1,2,3]`, children: 3},
		{name: "nothing", input: `[]`, want: `[]`},
		{name: "no array", input: `1`, want: in(`Reference path "$" must point to array.`)},
		{name: "object", input: `{"a": 1, "b": {"c":2}}`, want: `[{"Key":"a","Value":1},{"Key":"b","Value":{"c":2}}]`, children: 2},
		{name: "member without a name", input: `{"": 1}`, want: `[{"Key":"","Value":1}]`, children: 1},
		{
			name: "object, with a selector", fields: `"ItemsPath": "$.o", "ItemSelector": {"k.$": "$$.Map.Item.Key", "v.$": "$$.Map.Item.Value"},`,
			input: `{"o": {"a": 1}}`, want: `[{"k":"a","v":1}]`, children: 1,
		},
		{
			name: "object in batches", fields: `"ItemBatcher": {"MaxItemsPerBatch": 2},`, input: `{"a": 1, "b": 2}`,
			want: `[{"Items":[{"Key":"a","Value":1},{"Key":"b","Value":2}]}]`, children: 1,
		},
		{name: "one at a time", fields: `"MaxConcurrency": 1,` + reads(``), input: `{}`, items: []string{`1`, `2`, `3`}, want: `[1,2,3]`, children: 3},
		{name: "bucket", fields: reads(``), input: `{}`, items: []string{`1`, `{"a":2}`, `[3]`}, want: `[1,{"a":2},[3]]`, children: 3},
		{name: "empty bucket", fields: reads(``), input: `{}`, want: `[]`},
		{name: "first items", fields: reads(`, "MaxItems": 2`), input: `{}`, items: []string{`1`, `2`, `3`}, want: `[1,2]`, children: 2},
		{name: "first items by path", fields: reads(`, "MaxItemsPath": "$.n"`), input: `{"n": "1"}`, items: []string{`1`, `2`}, want: `[1]`, children: 1},
		{name: "negative items", fields: reads(`, "MaxItemsPath": "$.n"`), input: `{"n": -1}`, want: `States.ItemReaderFailed: field MaxItems must be positive`},
		{
			name: "half items", fields: reads(`, "MaxItemsPath": "$.n"`), input: `{"n": 1.5}`,
			want: in(`The MaxItemsPath field refers to value "1.5" which is not a valid integer: $.n`),
		},
		{
			name: "selector", fields: `"ItemSelector": {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value.a", "s.$": "$$.Map.Item.Source", "x.$": "$.x"},` + reads(``),
			input: `{"x": 7}`, items: []string{`{"a":5}`, `{"a":6}`},
			want: `[{"i":0,"v":5,"s":"S3://b/k","x":7},{"i":1,"v":6,"s":"S3://b/k","x":7}]`, children: 2,
		},
		{
			name: "members", language: "JSONata", fields: `"Items": {"a": 1, "b": "{% $states.input.n %}"},
				"ItemSelector": {"k": "{% $states.context.Map.Item.Key %}", "v": "{% $states.context.Map.Item.Value %}", "s": "{% $states.context.Map.Item.Source %}"},`,
			input: `{"n": 2}`, want: `[{"k":"a","v":1,"s":"STATE_DATA"},{"k":"b","v":2,"s":"STATE_DATA"}]`, children: 2,
		},
		{
			name: "selector that fails", fields: `"ItemSelector": {"v.$": "States.Format('{}', $$.Map.Item.Value.a)"},` + reads(``), input: `{}`, items: []string{`{"b":5}`},
			want: in(`The function 'States.Format('{}', $$.Map.Item.Value.a)' had the following error: ` +
				`The JsonPath argument for the field '$.Map.Item.Value.a' could not be found in the input '{}'`),
		},
		{
			name: "batches", fields: `"ItemBatcher": {"MaxItemsPerBatch": 2, "BatchInput": {"x.$": "$.x"}},` + reads(``), input: `{"x": 7}`,
			items: []string{`1`, `2`, `3`}, want: `[{"BatchInput":{"x":7},"Items":[1,2]},{"BatchInput":{"x":7},"Items":[3]}]`, children: 2,
		},
		{
			name: "batches of bytes", fields: `"MaxConcurrency": 1, "ItemBatcher": {"MaxInputBytesPerBatch": 21},` + reads(``), input: `{}`,
			items: []string{`1111`, `2222`, `3333`, `44444444444444444444444444`, `5`}, want: `[{"Items":[1111,2222]},{"Items":[3333]},{"Items":[44444444444444444444444444]},{"Items":[5]}]`,
			children: 4,
		},
		{
			name: "batches of some items", fields: `"ItemBatcher": {"MaxItemsPerBatch": 2},` + reads(`, "MaxItems": 3`), input: `{}`,
			items: []string{`1`, `2`, `3`, `4`}, want: `[{"Items":[1,2]},{"Items":[3]}]`, children: 2,
		},
		{name: "batches of the input", fields: `"ItemBatcher": {"MaxItemsPerBatch": 3},`, input: `[1, 2, 3, 4]`, want: `[{"Items":[1,2,3]},{"Items":[4]}]`, children: 2},
		{name: "a failure", input: `[1, 100, 2]`, want: exceeded, children: 3},
		{
			name: "tolerated failures", fields: `"ToleratedFailureCount": 1,`, input: `[1, 100, 2]`,
			want: `[1,{"Status":"FAILED","Error":"TooMany","Cause":"100"},2]`, children: 3,
		},
		{name: "one failure too many", fields: `"ToleratedFailureCountPath": "$.n", "ItemsPath": "$.all",`, input: `{"n": "1", "all": [100, 1, 101]}`, want: exceeded, children: 3},
		{name: "tolerated percentage", fields: `"ToleratedFailurePercentage": 34,`, input: `[100, 2, 2]`, want: `[{"Status":"FAILED","Error":"TooMany","Cause":"100"},2,2]`, children: 3},
		{name: "percentage too high", fields: `"ToleratedFailurePercentage": 33.3,`, input: `[1, 100, 2]`, want: exceeded, children: 3},
		{name: "negative count", fields: `"ToleratedFailureCountPath": "$[0]",`, input: `[-1]`, want: in("ToleratedFailureCount cannot be negative.")},
		{name: "percentage beyond", fields: `"ToleratedFailurePercentagePath": "$[0]",`, input: `[100.1]`, want: in("ToleratedFailurePercentage must be between 0 and 100.")},
		{
			name: "no percentage", fields: `"ToleratedFailurePercentagePath": "$[0]",`, input: `["x"]`,
			want: in(`The ToleratedFailurePercentagePath field refers to value "x" which is not a valid float: $[0]`),
		},
		{
			name: "taken apart", fields: `"ResultWriter": {"WriterConfig": {"Transformation": "FLATTEN", "OutputType": "JSON"}},`, input: `[[1, 2], 3, []]`,
			want: `[1,2,3]`, children: 3,
		},
		{
			name: "own context", input: `[1]`, states: `"Do": {"Type": "Pass", "End": true, "Parameters": {"e.$": "$$.Execution.Id", "in.$": "$$.Execution.Input", "m.$": "$$.StateMachine.Name"}}`,
			want: `[{"e":"run-1/E[0]","in":1,"m":"test/E"}]`, children: 1,
		},
		{
			name: "large results", input: `[1, 2, 3]`, states: `"Do": {"Type": "Pass", "Result": "` + strings.Repeat("x", 100_000) + `", "End": true}`,
			want:     "States.DataLimitExceeded: The state/task 'E' returned a result with a size exceeding the maximum number of bytes service limit.",
			children: 3,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			language, states := "JSONPath", each
			if c.language != "" {
				language = c.language
			}
			if c.states != "" {
				states = c.states
			}
			w := &stock{items: c.items}
			s := simulate(t, distributedMachine(t, language, c.fields, "STANDARD", states), c.input, w.task)
			if got := endOf(s); got != c.want {
				t.Errorf("ended with\n%s\nwant\n%s", got, c.want)
			}
			if len(s.subs) != c.children {
				t.Errorf("%d executions, want %d", len(s.subs), c.children)
			}
		})
	}
}

// TestDistributedMapReadsInputOnce counts the allocations of a map run for each item of the state's input. They do not
// grow with the number of items.
//
// Attack (Large runs): A distributed Map over 100,000 items in its input.
// Result: Reads the input once: 1.2 s of computing.
func TestDistributedMapReadsInputOnce(t *testing.T) { // not parallel: it counts the process's allocations
	perItem := func(items int, fields string) float64 {
		var input strings.Builder
		for i := range items {
			fmt.Fprintf(&input, `%c"%d": %d`, "{,"[min(i, 1)], i, i%10)
		}
		input.WriteByte('}')
		m := distributedMachine(t, "JSONata", `"Items": "{% $states.input %}", "MaxConcurrency": 1,`+fields, "STANDARD", each)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := simulate(t, m, input.String(), nil)
		runtime.ReadMemStats(&after)
		if s.end.Failure != nil {
			t.Fatal(s.end.Failure)
		}
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(items)
	}
	for _, fields := range []string{``, `"ItemBatcher": {"MaxItemsPerBatch": 2},`, `"ItemBatcher": {"MaxInputBytesPerBatch": 21},`} {
		if few, many := perItem(200, fields), perItem(4000, fields); many > 2*few {
			t.Errorf("%s: an item costs %.0f bytes of 200, and %.0f of 4000", fields, few, many)
		}
	}
}

// TestDistributedMapEndsInParts ends a map run of 3,500 children: well, with files of
// results, and by giving up. No answer looks at the results of all of them.
//
// Attack (Large runs): A distributed Map of millions of children gives up, or tolerates their failures.
// Result: A bound for each answer.
func TestDistributedMapEndsInParts(t *testing.T) {
	t.Parallel()
	const children = 3500
	input := "[" + strings.Repeat("1,", children/2) + "100" + strings.Repeat(",1", children/2-1) + "]"
	for _, c := range []struct{ fields, want string }{
		{`"ToleratedFailureCount": 1,`, "[1" + strings.Repeat(",1", children/2-1) + `,{"Status":"FAILED","Error":"TooMany","Cause":"100"},1`},
		{`"ToleratedFailureCount": 1,` + fmt.Sprintf(toBucket, ``), `{"MapRunArn"`},
		{fmt.Sprintf(toBucket, ``), "States.ExceedToleratedFailureThreshold"},
	} {
		w := &stock{}
		s := simulate(t, distributedMachine(t, "JSONPath", c.fields, "STANDARD", each), input, w.task)
		if got := endOf(s); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: ended with %.100s", c.fields, got)
		}
		if s.recalled > 1000 {
			t.Errorf("%s: an answer looked at %d results", c.fields, s.recalled)
		}
	}
}

// endOf returns a run's output, or its error and cause.
func endOf(s *simulator) string {
	if f := s.end.Failure; f != nil {
		return f.Code + ": " + f.Message
	}
	return s.end.Value.String()
}

// TestMapRunEvents looks at how the histories of maps go that do not end well.
func TestMapRunEvents(t *testing.T) {
	t.Parallel()
	w := &stock{items: []string{`1`}, breaks: asl.ReadItems}
	m := distributedMachine(t, "JSONPath", reads(``)+`"Retry": [{"ErrorEquals": ["States.ItemReaderFailed"], "MaxAttempts": 1}],`, "STANDARD", each)
	s := simulate(t, m, `{}`, w.task)
	attempt := []string{"MapStateStarted E", "MapRunStarted E", "MapRunFailed E"}
	want := slices.Concat([]string{"ExecutionStarted", "MapStateEntered E"}, attempt, attempt, []string{"MapStateFailed E", "ExecutionFailed"})
	if diff := cmp.Diff(want, s.types()); diff != "" || endOf(s) != "States.ItemReaderFailed: it broke" {
		t.Errorf("ended with %s (-want +got):\n%s", endOf(s), diff)
	}
	sub := simulate(t, distributedMachine(t, "JSONPath", ``, "EXPRESS", each), `[100]`, w.task).subs[0]
	want = []string{"ExecutionStarted", "TaskStateEntered Do", "TaskScheduled Do", "TaskStarted Do", "TaskFailed Do", "ExecutionFailed"}
	if diff := cmp.Diff(want, sub.types()); diff != "" {
		t.Errorf("a child (-want +got):\n%s", diff)
	}
}

// TestMapNames gives the parts of a map run the names that AWS gives.
func TestMapNames(t *testing.T) {
	t.Parallel()
	for _, execution := range []string{"STANDARD", "EXPRESS"} {
		m := distributedMachine(t, "JSONPath", `"Label": "L",`+fmt.Sprintf(toBucket, ``), execution,
			`"Do": {"Type": "Pass", "End": true, "Parameters": {"id.$": "$$.Execution.Id", "name.$": "$$.Execution.Name", "m.$": "$$.StateMachine.Id"}}`)
		s := &simulator{lang: m, task: (&stock{}).task, run: &grow.RunInfo{
			ID: "r", Flow: "m", Started: epoch, Attributes: atom.MustEncode(asl.Attributes{
				ExecutionID: "arn:aws:states:us-east-1:111111111111:execution:sm:e", ExecutionName: "e",
				StateMachineID: "arn:aws:states:us-east-1:111111111111:stateMachine:sm", StateMachineName: "sm",
			}),
		}}
		if s.start(`[1]`); s.fault != nil || s.status != "SUCCEEDED" {
			t.Fatal(s.fault, s.status)
		}
		var got struct{ ID, Name, M string }
		if err := s.subs[0].end.Value.Decode(&got); err != nil {
			t.Fatal(err)
		}
		want := "arn:aws:states:us-east-1:111111111111:execution:sm/L:" + got.Name
		if execution == "EXPRESS" {
			want = "arn:aws:states:us-east-1:111111111111:express:sm/L:" + got.Name + ":"
		}
		if !strings.HasPrefix(got.ID, want) || got.M != "arn:aws:states:us-east-1:111111111111:stateMachine:sm/L" {
			t.Errorf("%+v", got)
		}
		if s.subs[0].run.ID != asl.RunID("", got.ID) {
			t.Errorf("%s runs as %s", got.ID, s.subs[0].run.ID)
		}
		if !strings.HasPrefix(s.end.Value.String(), `{"MapRunArn":"arn:aws:states:us-east-1:111111111111:mapRun:sm/L:`) {
			t.Errorf("%s", s.end.Value)
		}
	}
}

// TestResultWriter looks at the files that a map run leaves.
func TestResultWriter(t *testing.T) {
	t.Parallel()
	run := func(config, fields, input string) (map[string]string, *simulator) {
		w := &stock{}
		s := simulate(t, distributedMachine(t, "JSONPath", fields+fmt.Sprintf(toBucket, config), "STANDARD", each), input, w.task)
		return w.wrote, s
	}
	files, s := run(`, "WriterConfig": {"Transformation": "COMPACT", "OutputType": "JSON"}`, `"ToleratedFailureCount": 1,`, `[1, 100, [2,3]]`)
	var details struct {
		ResultWriterDetails struct {
			Bucket string `json:"Bucket"` //nolint:tagliatelle // AWS's name
			Key    string `json:"Key"`    //nolint:tagliatelle // AWS's name
		} `json:"ResultWriterDetails"` //nolint:tagliatelle // AWS's name
	}
	if err := s.end.Value.Decode(&details); err != nil || details.ResultWriterDetails.Bucket != "out" || !strings.HasPrefix(details.ResultWriterDetails.Key, "p/") {
		t.Errorf("result %s: %v", s.end.Value, err)
	}
	if got := files["SUCCEEDED_0.json"]; got != `[1,[2,3]]` {
		t.Errorf("results %s", got)
	}
	var failures []map[string]any
	if err := json.Unmarshal([]byte(files["FAILED_0.json"]), &failures); err != nil || len(failures) != 1 ||
		failures[0]["Error"] != "TooMany" || failures[0]["Input"] != "100" || failures[0]["Status"] != "FAILED" || failures[0]["ExecutionArn"] != "run-1/E[1]" {
		t.Errorf("failures %s: %v", files["FAILED_0.json"], err)
	}
	var manifest struct {
		Bucket string                      `json:"DestinationBucket"` //nolint:tagliatelle // AWS's name
		Files  map[string][]map[string]any `json:"ResultFiles"`       //nolint:tagliatelle // AWS's name
	}
	if err := json.Unmarshal([]byte(files["manifest.json"]), &manifest); err != nil || manifest.Bucket != "out" || len(manifest.Files["PENDING"]) != 0 ||
		len(manifest.Files["FAILED"]) != 1 || manifest.Files["SUCCEEDED"][0]["Size"] != 9.0 {
		t.Errorf("manifest %s: %v", files["manifest.json"], err)
	}

	files, _ = run(`, "WriterConfig": {"Transformation": "FLATTEN", "OutputType": "JSONL"}`, ``, `[1, [2,3]]`)
	if got := files["SUCCEEDED_0.jsonl"]; got != "1\n2\n3\n" {
		t.Errorf("lines %q", got)
	}

	files, s = run(``, `"MaxConcurrency": 1,`, `[1, 100, 2]`)
	if got := endOf(s); !strings.HasPrefix(got, "States.ExceedToleratedFailureThreshold") {
		t.Error(got)
	}
	if !strings.Contains(files["SUCCEEDED_0.json"], `"Output":"1"`) || !strings.Contains(files["FAILED_0.json"], `"Input":"100"`) || files["manifest.json"] == "" {
		t.Errorf("files of a map that failed: %v", files)
	}

	files, _ = run(`, "WriterConfig": {"Transformation": "COMPACT"}`, ``, "["+strings.Repeat(`"`+strings.Repeat("x", 1000)+`",`, 200)+"1]")
	var all []any
	if err := json.Unmarshal([]byte(files["SUCCEEDED_0.json"]), &all); err != nil || len(all) != 201 {
		t.Errorf("%d results in several writes: %v", len(all), err)
	}

	w := &stock{breaks: asl.WriteObjects}
	s = simulate(t, distributedMachine(t, "JSONPath", fmt.Sprintf(toBucket, ``), "STANDARD", each), `[1]`, w.task)
	if got := endOf(s); got != "States.ResultWriterFailed: it broke" {
		t.Error(got)
	}
}
