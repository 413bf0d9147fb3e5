package engine_test

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/states"
)

// TestLivelocksOfSM4C lets machines compute without a wait. Those that repeat themselves fail as livelocks. Others
// continue up to the limits of runs. Deaths change neither.
//
// Attack (Runs that grow or compute without end): A loop of computing SM4C states that writes history.
// Result: `SM4C.Livelock` if its data repeats, else the run's limits.
func TestLivelocksOfSM4C(t *testing.T) {
	t.Parallel()
	count := func(next, until string) string {
		return `{"name": "m", "version": "1", "states": [
 {"name": "Count", "start": true, "enterAction": {"type": "injectData", "expression": "${ .n }"}, "enterResultHandler": "${ .n = (` + next + `) }",
  "transitions": [{"condition": "${ ` + until + ` | not }", "nextState": "Count"}, {"condition": "${ ` + until + ` }", "nextState": "End"}]},
 {"name": "End"}]}`
	}
	for name, c := range map[string]struct {
		text   string
		limits engine.Limits
		code   string
		most   int64 // transitions
	}{
		"ends":             {count(`$value + 1`, `.n >= 30000`), engine.Limits{}, "", 31_000},
		"never the same":   {count(`$value + 1`, `false`), engine.Limits{Transitions: 60_000}, atom.CodeLimit, 61_000},
		"always the same":  {count(`$value`, `false`), engine.Limits{}, sm4c.CodeLivelock, 10_100},
		"one of seven":     {count(`($value + 1) % 7`, `false`), engine.Limits{}, sm4c.CodeLivelock, 12_000},
		"a round of 3,000": {count(`($value + 1) % 3000`, `false`), engine.Limits{}, sm4c.CodeLivelock, 12_000},
		"after 15,000":     {count(`if $value < 15000 then $value + 1 else 14990 end`, `false`), engine.Limits{}, sm4c.CodeLivelock, 25_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := sm4c.Parse("m", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			for _, deaths := range [][]int{nil, {3}, {20, 5}} {
				run, _, _ := bound(t, func(*world) flow.Node { return m.Flow() }, c.limits, engine.Step, deaths...)
				code, text := "", ""
				if f := run.Failure; f != nil {
					code, text = f.Code, f.Message
				}
				if code != c.code || run.Events > 5*c.most || c.code == "" && run.State != states.FlowSuccess ||
					c.code == sm4c.CodeLivelock && !strings.Contains(text, "is as it was") {
					t.Errorf("%v with %s: %s, after %d events", run.State, code, text, run.Events)
				}
			}
		})
	}
}
