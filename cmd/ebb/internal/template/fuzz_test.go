package template

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// FuzzTemplate shows that no template makes the evaluator panic, or make more than it may.
//
// Attack (Definitions and expressions): a template whose functions call each other in circles, nest deeply, or double a
// text at each step.
// Result: Circles are named; nesting and what functions make are limited.
func FuzzTemplate(f *testing.F) {
	for _, name := range []string{"*/template.y*ml", "*/cdk.out/*.template.json", "*/*/*.yaml"} {
		files, err := filepath.Glob(filepath.Join("../../testdata/projects", name))
		if err != nil || len(files) == 0 {
			f.Fatal(name, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := document.ParseYAML([]byte(text))
		if err != nil || !IsTemplate(d) {
			return
		}
		got := Read(d, Options{
			Folder: "/project", Values: map[string]string{"Stage": "test"},
			Read: func(string, int64) ([]byte, error) { return []byte("{\"Fn::Transform\": 1}"), nil },
		})
		for _, m := range got.Machines {
			if m.Text != nil && len(m.Text.Text) > maxMade {
				t.Errorf("%d bytes", len(m.Text.Text))
			}
		}
	})
}

// hostile returns templates that must end in a problem.
func hostile() map[string]string {
	doubled := "x"
	for range 40 {
		doubled = "{\"Fn::Sub\": [\"${a}${a}\", {\"a\": " + doubled + "}]}"
	}
	machine := func(definition string) string {
		return "{\"Resources\": {\"M\": {\"Type\": \"AWS::StepFunctions::StateMachine\", \"Properties\": " +
			"{\"DefinitionString\": " + definition + "}}}}"
	}
	return map[string]string{
		"bytes together": machine(strings.Replace(doubled, "x", "\""+strings.Repeat("x", 1000)+"\"", 1)),
		"nest deeper":    machine(strings.Repeat("{\"Fn::Base64\": ", 450) + `{"Fn::Transform": {"Name": "AWS::Include", "Parameters": {"Location": "self"}}}` + strings.Repeat("}", 450)),
		"the condition C refers to itself": `{"Conditions": {"C": {"Fn::Not": [{"Condition": "C"}]}},
			"Resources": {"A": {"Type": "AWS::Lambda::Function", "Condition": "C"}}}`,
		"the name of A refers to itself": `{"Resources": {
			"A": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": {"Ref": "B"}}},
			"B": {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": {"Fn::Sub": "${A}-b"}}}}}`,
		"Ebb does not support Fn::ForEach": `{"Resources": {"Fn::ForEach::Each": ["X", ["a"], {}]}}`,
	}
}

// TestHostileTemplates shows that circles and doubling in templates end in a problem that names them.
func TestHostileTemplates(t *testing.T) {
	t.Parallel()
	for want, text := range hostile() {
		d, err := document.ParseYAML([]byte(text))
		if err != nil {
			t.Fatal(want, err)
		}
		got := Read(d, Options{Read: func(string, int64) ([]byte, error) {
			return []byte(`{"Fn::Transform": {"Name": "AWS::Include", "Parameters": {"Location": "self"}}}`), nil
		}})
		var problems strings.Builder
		for _, p := range append(got.Problems, got.Warnings...) {
			problems.WriteString(p.Text + "\n")
		}
		if !strings.Contains(problems.String(), want) {
			t.Errorf("want %q, got %s", want, problems.String())
		}
	}
}

// TestManyReferences shows that the time for a template grows with its size: many references to many parameters,
// mappings and missing resources.
func TestManyReferences(t *testing.T) {
	t.Parallel()
	const n = 100_000
	var parameters, keys, calls []string
	for i := range n {
		parameters = append(parameters, fmt.Sprintf(`"P%d": {"Type": "String", "Default": "x"}`, i))
		keys = append(keys, fmt.Sprintf(`"K%d": "x"`, i))
		calls = append(calls, fmt.Sprintf(`{"Ref": "P%d"}, {"Fn::FindInMap": ["M", "A", "K%d"]}, {"Ref": "None%d"}`, i, i, i))
	}
	text := `{"Parameters": {` + strings.Join(parameters, ",") + `}, "Mappings": {"M": {"A": {` + strings.Join(keys, ",") +
		`}}}, "Resources": {"S": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString":
		{"Fn::Join": ["", [` + strings.Join(calls, ",") + `]]}}}}}`
	d, err := document.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got := Read(d, Options{})
	if len(got.Machines[0].Text.Text) < 2*n || time.Since(began) > 15*time.Second { // without indexes, it takes 37 s
		t.Errorf("%d bytes took %v", len(got.Machines[0].Text.Text), time.Since(began))
	}
}

// TestSubstitute shows that offsets in a filled text lead back to the text as it is written.
func TestSubstitute(t *testing.T) {
	t.Parallel()
	in := `{"a": ${One}, "b": "${Two}", "c": "${!Keep}${None}"}`
	got, edits := substitute(in, func(name string) (string, bool) {
		value, is := map[string]string{"One": "12345678", "Two": "2", "!Keep": "${Keep}"}[name]
		return value, is
	}, 1000)
	if want := `{"a": 12345678, "b": "2", "c": "${Keep}${None}"}`; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for _, part := range []string{`"a"`, `"b"`, `"c"`, "${None}"} {
		if back := edits.Back(strings.Index(got, part)); back != strings.Index(in, part) {
			t.Errorf("%s is at %d, want %d", part, back, strings.Index(in, part))
		}
	}
}

// TestSpec shows how expressions of AWS become schedules of jobs, and which cannot.
func TestSpec(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"rate(1 minute)": "@every 1m", "rate(12 hours)": "@every 12h", "rate(2 days)": "@every 48h",
		"cron(0/15 8-18 ? * MON-FRI *)": "0/15 8-18 * * MON-FRI", "cron(5 4 ? * 1,7 *)": "5 4 * * 0,6",
		"cron(0 0 1 JAN ? *)": "0 0 1 JAN *", "cron(0 0 ? * 2-6/2 *)": "0 0 * * 1-5/2",
		"cron(0 0 L * ? *)": "", "cron(0 0 ? * 2#1 *)": "", "cron(0 0 1 1 ? 2027)": "", "cron(0 0 3W * ? *)": "",
		"cron(0 0 ? * 6L *)": "", "at(2027-01-01T00:00:00)": "", "rate(0 hours)": "", "rate(1 week)": "", "daily": "",
		"cron(1 2 3)": "",
	} {
		got, err := spec(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v; want %q", in, got, err, want)
		}
	}
}
