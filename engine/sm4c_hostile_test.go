package engine_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestHostileExpressions runs machines whose expressions would take all memory or never end, beside a normal one. Each
// fails within its budget, and does not disturb the normal one.
//
// Guarantee (State Machines For Cloud): A hostile expression fails its own run within its budget, none beside it.
//
// Attack (Definitions and expressions): `error(…)` of jq or `$error(…)` of JSONata with megabytes of text.
// Result: Bounded.
// Also: `flow/asl: TestQueryLongFault`.
func TestHostileExpressions(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	flows := machineFlows{}
	for name, program := range map[string]string{
		"range":      `[range(1e12)]`,
		"count":      `reduce range(1e12) as $i (0; . + 1)`,
		"repeat":     `"x" * 6e8`,
		"double":     `reduce range(60) as $i ("x"; . + .)`,
		"recursion":  `def f: f; f`,
		"deeper":     `def f: 1 + f; f`,
		"nesting":    `reduce range(1e6) as $i (1; [.])`,
		"until":      `until(false; .)`,
		"product":    `[range(1e6)] | combinations(9)`,
		"pad":        `[limit(1e9; repeat("x"))] | join("")`,
		"error":      `error([range(600000) | "long text "] | join(""))`,
		"meant well": `.a + 1`,
	} {
		text := `{"name": "m", "version": "1", "states": [{"name": "A", "start": true,
 "enterAction": {"type": "injectData", "expression": "${ ` + strings.ReplaceAll(program, `"`, `\"`) + ` }"}, "enterResultHandler": "${ .a = $value }"}]}`
		m, err := sm4c.Parse(name, []byte(text))
		if err != nil {
			t.Logf("%s is refused: %v", name, err) // which is as good
			continue
		}
		flows[name] = m
	}
	eng, err := engine.New(flows["meant well"].Flow(), store, engine.WithCatalog(flows))
	if err != nil {
		t.Fatal(err)
	}
	var runs sync.WaitGroup
	for name, m := range flows {
		own, err := engine.New(m.Flow(), store)
		if err != nil {
			t.Fatal(err)
		}
		if err := own.Start(t.Context(), name, engine.Input(atom.FromJSON([]byte(`{"a": 1}`)))); err != nil {
			t.Fatal(err)
		}
		runs.Go(func() {
			_, _ = eng.Run(t.Context(), name) // its end is checked below
		})
	}
	runs.Wait()
	for name := range flows {
		run, err := store.Run(t.Context(), name)
		switch {
		case err != nil:
			t.Fatal(err)
		case name == "meant well":
			if run.Output.Data.String() != `{"a":2}` {
				t.Errorf("%s ended %v with %s", name, run.State, run.Output.Data)
			}
		case run.Failure != nil && len(run.Failure.Message) > 33<<10:
			t.Errorf("%s failed with a message of %d bytes", name, len(run.Failure.Message))
		case run.Failure == nil || run.Failure.Code != sm4c.CodeExpression:
			t.Errorf("%s ended %v with %v; want %s", name, run.State, run.Failure, sm4c.CodeExpression)
		}
	}
}
