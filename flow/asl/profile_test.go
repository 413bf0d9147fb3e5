package asl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/flow/asl"
)

// TestProfiles shows every difference between the profiles in a run.
func TestProfiles(t *testing.T) {
	t.Parallel()
	const caught = `"ResultPath": null, "Next": "Caught"}], "End": true}, "Caught": {"Type": "Succeed"}}}`
	parallel := func(catch string) string {
		return `{"StartAt": "S", "States": {"S": {"Type": "Parallel", "Branches": [{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Mine", ` +
			`"Cause": "why"}}}], "Catch": [{"ErrorEquals": ["` + catch + `"], ` + caught
	}
	path := func(catch string) string {
		return `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "exec:x", "Parameters": {"x.$": "$.no"}, "Catch": [{"ErrorEquals": ["` +
			catch + `"], ` + caught
	}
	output := func(catch string) string {
		return `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "exec:x", "OutputPath": "$.no", "Catch": [{"ErrorEquals": ["` + catch + `"], ` + caught
	}
	const choice = `{"StartAt": "S", "States": {"S": {"Type": "Choice", "Choices": [{"Variable": "$", "IsNull": true, "Next": "S"}]}, "E": {"Type": "Succeed"}}}`
	const noChoice = inS + "Failed to transition out of the state. The state does not point to a next state."
	const cause = inS + "The JSONPath '$.no' specified for the field 'x.$' could not be found in the input '{}'"
	for _, c := range []struct{ name, definition, aws, spec string }{
		{"a branch fails", parallel("Other"), "FAILED Mine: why", "FAILED States.BranchFailed: why"},
		{"caught by the branch's error", parallel("Mine"), "SUCCEEDED {}", "SUCCEEDED {}"},
		{"caught as a failed branch", parallel("States.BranchFailed"), "FAILED Mine: why", "SUCCEEDED {}"},
		{"not a failed task", parallel("States.TaskFailed"), "SUCCEEDED {}", "FAILED States.BranchFailed: why"},
		{"a path in Parameters", path("Other"), "FAILED States.Runtime: " + cause, "FAILED States.ParameterPathFailure: " + cause},
		{"no rule holds", choice, "FAILED States.Runtime: " + noChoice, "FAILED States.NoChoiceMatched: " + noChoice},
		{"caught by its name", path("States.ParameterPathFailure"), "SUCCEEDED {}", "SUCCEEDED {}"},
		{"States.ALL and Parameters", path("States.ALL"), "FAILED States.Runtime: " + cause, "SUCCEEDED {}"},
		{
			"States.ALL and OutputPath", output("States.ALL"),
			"FAILED States.Runtime: " + inS + "Invalid path '$.no' : No results for path: $['no']", "SUCCEEDED {}",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for p, want := range map[asl.Profile]string{asl.AWS: c.aws, asl.Spec2016: c.spec} {
				m, err := asl.Parse("test", []byte(c.definition), asl.Under(p))
				if err != nil {
					t.Fatal(err)
				}
				if got := ending(simulate(t, m, `{}`, nil)); got != want {
					t.Errorf("%s: %s\nwant %s", p, got, want)
				}
			}
		})
	}
}

// TestProfileTimeout shows that a task of 2016 has 60 seconds unless it says
// otherwise, and that of today any time.
func TestProfileTimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields string
		aws    time.Duration
		spec   time.Duration
	}{
		{``, 0, time.Minute},
		{`"TimeoutSeconds": 5, `, 5 * time.Second, 5 * time.Second},
		{`"TimeoutSecondsPath": "$.t", `, 7 * time.Second, 7 * time.Second},
	} {
		for p, want := range map[asl.Profile]time.Duration{asl.AWS: c.aws, asl.Spec2016: c.spec} {
			m, err := asl.Parse("test", []byte(alone(`{"Type": "Task", "Resource": "exec:x", `+c.fields+`"End": true}`)), asl.Under(p))
			if err != nil {
				t.Fatal(err)
			}
			var got time.Duration
			simulate(t, m, `{"t": 7}`, func(c call) answer {
				got = c.timeout
				return answer{output: "1"}
			})
			if got != want {
				t.Errorf("%s with %q: %s, want %s", p, c.fields, got, want)
			}
		}
	}
}

// TestProfileRules checks what is legal under one profile and not under the other.
func TestProfileRules(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 100)
	long := `{"StartAt": "` + name + `", "States": {"` + name + `": {"Type": "Succeed"}}}`
	if problems := asl.Validate("", []byte(long), asl.Under(asl.Spec2016)); len(problems) > 0 {
		t.Errorf("a name of 100 characters: %v", problems)
	}
	if asl.Validate("", []byte(long)).Legal() {
		t.Error("a name of 100 characters is legal today")
	}
	fails := alone(`{"Type": "Fail", "Error": "E"}`)
	if problems := asl.Validate("", []byte(fails)); len(problems) > 0 {
		t.Errorf("Fail without Cause: %v", problems)
	}
	problems := asl.Validate("", []byte(fails), asl.Under(asl.Spec2016))
	if len(problems) != 1 || problems[0].Rule != "error-and-cause" || !problems.Legal() {
		t.Errorf("Fail without Cause in 2016: %v", problems)
	}
}

// TestParseProfile shows that profiles are known by their names.
func TestParseProfile(t *testing.T) {
	t.Parallel()
	for _, p := range asl.Profiles() {
		if got, err := asl.ParseProfile(p.String()); got != p || err != nil {
			t.Errorf("%s: %v, %v", p, got, err)
		}
	}
	if _, err := asl.ParseProfile("2016"); err == nil || err.Error() != `profile "2016" is not known (use aws or spec2016)` {
		t.Error(err)
	}
}
