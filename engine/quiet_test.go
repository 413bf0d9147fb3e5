package engine_test

import (
	"path/filepath"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestNoHistory runs a machine with and without a history, in memory and on SQLite. The ends are the same, including
// the numbers of events in causes. Without a history, nothing is stored of it.
func TestNoHistory(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("quiet", []byte(`{"StartAt": "Each", "States": {
		"Each": {"Type": "Map", "ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Pass", "Parameters": {"n.$": "$"}, "End": true}}}, "Next": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 0, "Next": "Broken"},
		"Broken": {"Type": "Pass", "Parameters": {"x.$": "$.x"}, "End": true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	onDisk := func() backend.Store {
		s, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "ebb.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	var ends []string
	for _, c := range []struct {
		store backend.Store
		opts  []engine.Option
		lines bool
		seen  bool
	}{
		{memstore.New(), nil, true, false},
		{memstore.New(), []engine.Option{engine.WithCheckpoints(engine.NoHistory)}, false, false},
		{memstore.New(), []engine.Option{engine.WithCheckpoints(engine.NoHistory)}, false, true},
		{onDisk(), []engine.Option{engine.WithCheckpoints(engine.NoHistory)}, false, false},
	} {
		told := 0
		opts := append([]engine.Option{engine.WithStore(c.store)}, c.opts...)
		if c.seen { // observers are informed nevertheless
			opts = append(opts, engine.WithObserver(func(ev engine.Event) {
				if ev.Kind == engine.LanguageEvent {
					told++
				}
			}))
		}
		eng, err := engine.New(m.Flow(), memstore.New(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "run", engine.Input(atom.MustEncode(make([]int, 1200))))
		if res == nil {
			t.Fatal(err)
		}
		ends = append(ends, err.Error())
		kept, err := c.store.History(t.Context(), "run", 0, 10)
		if err != nil || len(kept) > 0 != c.lines {
			t.Errorf("%d lines of history, %v", len(kept), err)
		}
		if c.seen && int64(told) != res.Run.Events || res.Run.Events < 4*1200 {
			t.Errorf("told of %d events of %d", told, res.Run.Events)
		}
	}
	for _, end := range ends[1:] {
		if end != ends[0] {
			t.Errorf("ends with %q; with a history %q", end, ends[0])
		}
	}
}
