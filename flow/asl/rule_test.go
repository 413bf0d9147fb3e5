package asl_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
)

// A ruleCase breaks one rule and shows how it is kept.
type ruleCase struct {
	rule      string
	bad, good string
	opts      []asl.Option
	schema    bool // the JSON Schema sees it, too
}

// machineOf returns a machine of states, which begins with A.
func machineOf(states string) string { return `{"StartAt": "A", "States": {` + states + `}}` }

// inJSONata returns a JSONata machine of one state.
func inJSONata(state string) string {
	return `{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": ` + state + `}}`
}

func taskWith(fields string) string {
	return machineOf(`"A": {"Type": "Task", "Resource": "exec:x", ` + fields + `"End": true}`)
}

func mapWith(config, fields string) string {
	return machineOf(`"A": {"Type": "Map", "ItemProcessor": {` + config + `"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}, ` + fields + `"End": true}`)
}

const distributed = `"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, `

func choiceWith(rule string) string {
	return machineOf(`"A": {"Type": "Choice", "Choices": [` + rule + `]}, "B": {"Type": "Succeed"}`)
}

var ruleCases = slices.Concat(structureCases, dataCases)

// TestRules shows for each rule a definition that breaks it and nothing else of
// its severity, and one that keeps it.
//
// Guarantee (G8): Each ASL rule finds its problems, with line, column and JSON pointer.
// Also: `TestParseProblems`, `TestParsePointers`.
func TestRules(t *testing.T) {
	t.Parallel()
	severity := map[string]flow.Severity{}
	untested := map[string]bool{}
	for _, r := range check.Rules() {
		severity[r.Name], untested[r.Name] = r.Severity, true
	}
	for _, c := range ruleCases {
		if severity[c.rule] == "" {
			t.Errorf("there is no rule %s", c.rule)
		}
		delete(untested, c.rule)
		problems := asl.Validate("", []byte(c.bad), c.opts...)
		broken := func(p flow.Diagnostic) bool { return p.Rule == c.rule }
		if !slices.ContainsFunc(problems, broken) {
			t.Errorf("%s: not found in %.300s\nbut %v", c.rule, c.bad, problems)
		}
		if severity[c.rule] != flow.SeverityError && !problems.Legal() && len(c.opts) == 0 {
			t.Errorf("%s: is illegal: %.300s: %v", c.rule, c.bad, problems)
		}
		problems = asl.Validate("", []byte(c.good), c.opts...)
		if !problems.Legal() || slices.ContainsFunc(problems, broken) {
			t.Errorf("%s: kept, but found in %.300s\n%v", c.rule, c.good, problems)
		}
	}
	for name := range untested {
		t.Errorf("no case breaks the rule %s", name)
	}
}

// TestSubstituted shows that a function of a template in which nothing is left to
// substitute is the text that it holds.
func TestSubstituted(t *testing.T) {
	t.Parallel()
	m := parse(t, machineOf(`"A": {"Type": "Task", "Resource": {"Fn::Sub": "exec:name"}, "End": true}`))
	if got := m.States()[0].Task; got != "exec:name" {
		t.Errorf("the resource is %q", got)
	}
}

// TestProblemsNameTheirRules shows that a problem has the code of its rule.
func TestProblemsNameTheirRules(t *testing.T) {
	t.Parallel()
	code := map[string]flow.DiagnosticCode{}
	for _, r := range check.Rules() {
		if code[r.Name] != "" {
			t.Errorf("there are two rules %s", r.Name)
		}
		code[r.Name] = r.Code
	}
	for _, c := range ruleCases {
		for _, p := range asl.Validate("", []byte(c.bad), c.opts...) {
			if p.Code != code[p.Rule] {
				t.Errorf("%s has the code %s, its rule %s has %s", p, p.Code, p.Rule, code[p.Rule])
			}
			if !json.Valid([]byte(c.bad)) {
				continue
			}
			if p.Line < 1 || p.Column < 1 {
				t.Errorf("%s has no place", p)
			}
		}
	}
}
