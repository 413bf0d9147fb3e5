package console_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestEvents: the history of a run of a language leads to the events of the language, and back. It is read page by page.
func TestEvents(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	m, err := asl.Parse("m", []byte(`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$$.Execution.Input.n", "End": true,
		"ItemProcessor": {"StartAt": "Tick", "States": {"Tick": {"Type": "Wait", "Seconds": 0, "End": true}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(m.Flow(), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r", engine.Input(atom.MustEncode(map[string]any{"n": make([]int, 100)}))); err != nil {
		t.Fatal(err)
	}
	h := console.New(store, console.Options{})
	if body := get(t, h, http.MethodGet, "/run?id=r&view=history").Body.String(); !strings.Contains(body, "events=1") || strings.Contains(body, "WaitStateEntered") {
		t.Errorf("the history does not lead to the events:\n%.3000s", body)
	}
	entered, at := 0, "/run?id=r&view=history&events=1"
	for page := 0; at != "" && page < 10; page++ {
		body := get(t, h, http.MethodGet, at).Body.String()
		entered += strings.Count(body, ">WaitStateEntered<")
		at = ""
		if _, rest, more := strings.Cut(body, `rel="next" href="`); more {
			to, _, _ := strings.Cut(rest, `"`)
			at = "/" + html.UnescapeString(to)
		}
	}
	if entered != 100 {
		t.Errorf("the events tell of %d states, want 100", entered)
	}
}
