package engine_test

import (
	"context"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
)

// noted has an optional input.
type noted struct {
	Item   int    `json:"item,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// TestOptionalInput: an input that no atom requires is optional, also if the engine knows its type. The atom then gets
// the zero value, as does the body of a flow.Each.
func TestOptionalInput(t *testing.T) {
	t.Parallel()
	reason, numbers, notes := atom.NewKey[string]("reason"), atom.NewKey[[]int]("numbers"), atom.NewKey[[]string]("notes")
	note := func(name, as string) *atom.Atom {
		return atom.Func(name, func(_ context.Context, in noted) (string, error) { return in.Reason + ".", nil }, atom.As(as))
	}
	e := newEngine(t, flow.Linear("f", note("once", "once"), flow.Each("each", numbers, note("note", "note")).As(notes.Name())),
		engine.WithInputs(reason, numbers))
	for id, want := range map[string]string{"with": "why.", "without": "."} {
		opts := []engine.RunOption{engine.With(numbers, []int{1})}
		if id == "with" {
			opts = append(opts, engine.With(reason, "why"))
		}
		res, err := e.Run(t.Context(), id, opts...)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		once, err := engine.Get(res, atom.NewKey[string]("once"))
		if err != nil || once != want {
			t.Errorf("%s: %q, %v; want %q", id, once, err, want)
		}
		each, err := engine.Get(res, notes)
		if err != nil || len(each) != 1 || each[0] != want {
			t.Errorf("%s: the items give %q, %v; want %q", id, each, err, want)
		}
	}
}
