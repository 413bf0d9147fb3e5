package sm4c_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow/sm4c"
)

// TestMisplaced: an attribute that belongs to another kind of object is warned of, as misspelled ones are. Others are
// ignored, as in the original.
func TestMisplaced(t *testing.T) {
	t.Parallel()
	var said []string
	for _, d := range sm4c.Validate("m.json", []byte(`{"name": "m", "version": "1", "states": [{"name": "A", "start": true,
"id": "a", "kind": "Simple", "note": 1, "errorHandlers": [], "transition": [],
"enterAction": {"type": "delay", "timeout": "PT1S", "functionName": "f"}}]}`)) {
		said = append(said, d.String())
	}
	want := []string{
		`m.json:2:41: state "A": "errorHandlers" is an attribute of an action, not of a state, and is ignored`,
		`m.json:2:62: state "A": "transition" is no attribute of a state and is ignored (did you mean "transitions"?)`,
		`m.json:3:53: state "A": "functionName" is an attribute of an action of another type, not of an action of type ` +
			`delay, and is ignored`,
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
