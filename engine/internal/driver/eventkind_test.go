package driver

import "testing"

// TestEventKind: each kind of event has a name.
func TestEventKind(t *testing.T) {
	t.Parallel()
	if FlowChanged.String() != "FlowChanged" || (RunDetached+1).String() != "EventKind(9)" {
		t.Errorf("%v, %v", FlowChanged, RunDetached+1)
	}
	for k := range RunDetached + 1 {
		if k.String() == "" {
			t.Errorf("kind %d has no name", uint8(k))
		}
	}
}
