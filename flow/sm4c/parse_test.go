package sm4c_test

import (
	"testing"

	"github.com/ebbflow/ebb/flow/sm4c"
)

// TestProblems shows what is said of definitions that are wrong, and where.
func TestProblems(t *testing.T) {
	t.Parallel()
	for definition, want := range map[string]string{
		``:  `m:1:1: the definition must be a JSON object, found nothing`,
		`{`: `m:1:2: expected a member's name in double quotes, found the end of the text`,
		`{"name": "m", "version": "1", "states": [{"name": "Ship", "start": true, "transitions": [{"nextState": "Shipp"}]}]}`://
		`m:1:104: state "Ship": nextState: there is no state "Shipp" (did you mean "Ship"?)`,
		`{"name": "m", "version": "1", "states": [{"name": "A", "start": true, "inputFilter": "${ \"é\" | mapp(.) }"}]}`://
		`m:1:98: state "A": inputFilter: there is no function mapp/1 (did you mean map/1?)`,
	} {
		problems := sm4c.Validate("m", []byte(definition))
		if problems.Legal() || problems[0].String() != want {
			t.Errorf("%s:\n got %v\nwant %s", definition, problems, want)
		}
	}
}

// FuzzValidate shows that no text makes Validate panic.
func FuzzValidate(f *testing.F) {
	f.Add([]byte(`{"name": "m", "version": "1", "states": [{"name": "A", "start": true}]}`))
	f.Add([]byte(`{"states": [{"transitions": [{"eventGroups": [{"events": ["e"]}], "action": {"type": "foreach"}}]}], "functions": [{"operation": "fn:a"}]}`))
	f.Fuzz(func(_ *testing.T, text []byte) { _ = sm4c.Validate("m", text) })
}
