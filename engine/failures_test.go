package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestLongFailures lets flows fail with texts of megabytes. Each stored text is cut off.
//
// Attack (Definitions and expressions): A failure with an error code of 250 KB.
// Result: Bounded: cut off.
// Also: `internal/clip: TestText`.
func TestLongFailures(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 120_000)
	fail := func(more string) flow.Node {
		m, err := asl.Parse("m", []byte(`{"StartAt": "F", "States": {`+more+`"F": {"Type": "Fail", "Error": "`+long+`", "Cause": "`+long+`"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return m.Flow()
	}
	task := atom.Func("bad", func(_ context.Context, _ struct{}) (struct{}, error) {
		return struct{}{}, &atom.Failure{Code: long, Message: long, Stack: long, Details: atom.MustEncode(long)}
	})
	inner := `{"StartAt": "G", "States": {"G": {"Type": "Fail", "Error": "` + long + `", "Cause": "` + long + `"}}}`
	caught := `"P": {"Type": "Parallel", "Branches": [` + inner + `], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "F"}], "Next": "F"}, `
	for name, c := range map[string]struct {
		node flow.Node
		most int64 // bytes of all stored records
		code int
	}{
		"asl":        {fail(""), 200_000, 2 * 256},
		"asl caught": {fail(caught), 400_000, 2 * 256},
		"task":       {flow.Linear("f", task), 400_000, atom.MaxFailureCode + len("…")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := memstore.New()
			res, _ := newEngine(t, c.node, engine.WithStore(store)).Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{}`))))
			f := res.Run.Failure
			if len(f.Code) > c.code || len(f.Code) < c.code-4 || len(f.Message) > atom.MaxFailureText+3 || len(f.Details) > atom.MaxFailureDetails {
				t.Errorf("the code has %d bytes, the message %d, the details %d", len(f.Code), len(f.Message), len(f.Details))
			}
			if got := storedBytes(t, store, "r"); got > c.most {
				t.Errorf("%d bytes are stored", got)
			}
		})
	}
}

// storedBytes returns about how many bytes are stored for a run.
func storedBytes(t *testing.T, store backend.Store, id string) (n int64) {
	t.Helper()
	run, err := store.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	atoms, err := store.Atoms(t.Context(), id, storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	history, err := store.History(t.Context(), id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{run, atoms, history})
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(text))
}
