package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestFromSlog: an engine logs to a slog.Logger.
func TestFromSlog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	eng, err := engine.New(flow.Linear("f", atom.Func("a", func(context.Context, struct{}) (int, error) { return 1, nil }, atom.As("n"))),
		memstore.New(), engine.WithLogger(engine.FromSlog(l)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	for _, opt := range []engine.Option{engine.WithLogger(engine.FromSlog(nil)), engine.WithLogger(nil)} {
		if _, err := engine.New(flow.Linear("f"), memstore.New(), opt); err == nil {
			t.Error("no logger was taken for one")
		}
	}
	found := false
	for line := range strings.Lines(out.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(line, err)
		}
		found = found || record["run"] == "r" && record["msg"] == "atom.succeeded" && record["path"] == "a" && record["logger"] == "engine"
	}
	if !found {
		t.Errorf("logged %s", &out)
	}
}
