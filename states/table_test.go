package states

import (
	"testing"

	"github.com/looplab/fsm"
)

func TestCompileRefusesMistakes(t *testing.T) {
	t.Parallel()
	two := vocabulary{"lamp", []string{"OFF", "ON"}}
	event := func(name, to string, from ...string) fsm.EventDesc {
		return fsm.EventDesc{Name: name, Src: from, Dst: to}
	}
	for _, test := range []struct {
		name   string
		names  vocabulary
		events fsm.Events
		want   string
	}{
		{"unknown source", two, fsm.Events{event("press", "ON", "DIM")}, `states: lamp has no state "DIM"`},
		{"unknown target", two, fsm.Events{event("press", "DIM", "ON")}, `states: lamp has no state "DIM"`},
		{
			"one event, two targets: looplab would keep the last", two,
			fsm.Events{event("press", "ON", "OFF"), event("press", "OFF", "OFF")},
			"states: lamp: press from OFF is defined twice",
		},
		{
			"one pair, two events: no telling which one happened", two,
			fsm.Events{event("press", "ON", "OFF"), event("pull", "ON", "OFF")},
			"states: lamp: pull from OFF is defined twice",
		},
		{
			"more states than bits",
			vocabulary{"lamp", make([]string, maxStates+1)},
			nil,
			"states: lamp has 17 states, a table holds 16",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := recover(); got != test.want {
					t.Errorf("compile panicked with %v, want %s", got, test.want)
				}
			}()
			compile(test.names, rules{events: test.events})
		})
	}
}
