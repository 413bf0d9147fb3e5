package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestInputsDiffer: whoever asks for a run that exists with other inputs is told which, whether it has ended or not. The
// same inputs, and none, attach to it. A field that the type of an input has gained is no difference.
//
// Guarantee (G8): A run that exists is not returned to a caller who gives it other inputs.
func TestInputsDiffer(t *testing.T) {
	t.Parallel()
	type who struct {
		Name string `json:"name"`
	}
	type whoElse struct {
		Name string `json:"name"`
		Age  int    `json:"age"`
	}
	size, owner := atom.NewKey[int]("size"), atom.NewKey[who]("owner")
	calls := 0
	do := func(context.Context, struct {
		Size  int            `json:"size"`
		Owner who            `json:"owner"`
		Tags  map[string]any `json:"tags"`
	},
	) (struct{}, error) {
		calls++
		return struct{}{}, nil
	}
	resize, store := atom.Func("resize", do, atom.Optional("tags")), memstore.New()
	eng := newEngine(t, resize, engine.WithStore(store), engine.WithInputs(size, owner, engine.AnyInput))
	ann, tags := engine.With(owner, who{"Ann"}), atom.NewKey[map[string]any]("tags")
	for _, id := range []string{"ended", "pending"} {
		if err := eng.Start(t.Context(), id, engine.With(size, 1), ann); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := eng.Run(t.Context(), "ended", engine.With(size, 1), ann); err != nil || calls != 1 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	for _, id := range []string{"ended", "pending"} {
		for names, opts := range map[string][]engine.RunOption{
			`has another "size";`:          {engine.With(size, 2), ann},
			`has another "owner", "size";`: {engine.With(size, 2), engine.With(owner, who{"Bob"})},
			`has another "tags";`:          {engine.With(tags, map[string]any{"a": 1})},
			`has another "owner";`:         {engine.Input(atom.MustEncode(map[string]any{"size": 1, "more": 2}))},
		} {
			if _, err := eng.Run(t.Context(), id, opts...); !errors.Is(err, engine.ErrInputsDiffer) ||
				!strings.Contains(err.Error(), names) {
				t.Errorf("%s: got %v; want %s", id, err, names)
			}
			if _, err := eng.Run(t.Context(), id, append(opts, engine.Rerun())...); !errors.Is(err, engine.ErrInputsDiffer) {
				t.Errorf("%s: Rerun returned %v", id, err)
			}
		}
		err := eng.Start(t.Context(), id, engine.With(size, 2), ann)
		if !errors.Is(err, engine.ErrInputsDiffer) || !errors.Is(err, storage.ErrExists) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: Start returned %v", id, err)
		}
		err = eng.Start(t.Context(), id, engine.With(size, 1), ann)
		want := `engine: run "` + id + `": already exists; choose another id, or call Run, which continues it`
		if errors.Is(err, engine.ErrInputsDiffer) || !errors.Is(err, storage.ErrExists) || err.Error() != want {
			t.Errorf("%s: Start with the same inputs returned %v, want %s", id, err, want)
		}
	}
	of := newEngine(t, atom.Func("resize", func(context.Context, struct {
		Size  int            `json:"size"`
		Owner whoElse        `json:"owner"`
		Tags  map[string]any `json:"tags"`
	},
	) (struct{}, error) {
		return struct{}{}, nil
	}, atom.Optional("tags")), engine.WithStore(store), engine.With(size, 1), engine.WithInputs(engine.AnyInput))
	for _, opts := range [][]engine.RunOption{
		nil,
		{engine.With(atom.NewKey[whoElse]("owner"), whoElse{Name: "Ann"})},
		{engine.Input(atom.FromJSON([]byte(`{"owner": {"name": "Ann"}, "size":  1}`)))},
		{engine.With(size, 3), engine.Existing()},
	} {
		if _, err := of.Run(t.Context(), "ended", opts...); err != nil {
			t.Errorf("%v: %v", opts, err)
		}
	}
	if calls != 1 {
		t.Errorf("%d calls; want 1", calls)
	}
}

// TestServerStartInputsDiffer: a server whose catalog has the flow says which inputs differ, too.
func TestServerStartInputsDiffer(t *testing.T) {
	t.Parallel()
	size := atom.NewKey[int]("size")
	f := flow.Linear("f", atom.Func("a", func(context.Context, int) (struct{}, error) { return struct{}{}, nil },
		atom.From("size")))
	store := memstore.New()
	server, err := engine.NewServer(engine.Flows(f), store)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		run, err := server.NewRun(f, "r", engine.With(size, n))
		if err == nil {
			err = server.Start(t.Context(), run)
		}
		if errors.Is(err, engine.ErrInputsDiffer) != (n > 0) || (err != nil) != (n > 0) {
			t.Errorf("with %d: %v", n, err)
		}
	}
}
