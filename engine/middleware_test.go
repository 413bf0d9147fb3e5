package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/memstore"
)

// noting is middleware that records its calls.
type noting struct {
	atom.Body
	name string
	seen *[]string
}

func (n noting) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	*n.seen = append(*n.seen, n.name+" "+atom.IdempotencyKey(ctx))
	return n.Body.Execute(ctx, in)
}

func (n noting) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	*n.seen = append(*n.seen, n.name+" "+atom.RevertKey(ctx)+" "+did.String())
	return n.Body.Revert(ctx, in, did)
}

// TestMiddleware shows that middleware wraps every call of a task, in Go flows and in languages. The first one given is
// outermost.
func TestMiddleware(t *testing.T) {
	t.Parallel()
	machine, err := asl.Parse("m", []byte(`{"StartAt":"a","States":{
		"a":{"Type":"Task","Resource":"do:a","Revert":"undo:a","Next":"b"},
		"b":{"Type":"Task","Resource":"fail:b","End":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	for name, node := range map[string]flow.Node{
		"go":       flow.Linear("f", w.task("a", nil), atom.Func("b", func(context.Context, struct{}) (int, error) { return 0, errors.New("no") })),
		"language": machine.Flow(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []string
			note := func(name string) engine.Option {
				return engine.WithMiddleware(func(next atom.Body) atom.Body { return noting{next, name, &seen} })
			}
			_, err := run(t, node, engine.WithTasks(w), note("outer"), note("inner"), engine.WithParallelism(1))
			if _, ok := errors.AsType[*engine.RevertedError](err); !ok {
				t.Fatalf("ended with %v", err)
			}
			want := []string{"outer r/a/0", "inner r/a/0", "outer r/b/0", "inner r/b/0", "outer r/a/0/revert done", "inner r/a/0/revert done"}
			got := seen
			if name == "go" { // b, which failed, is undone too, although it has nothing to undo
				got = append(got[:4:4], got[6:]...)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMiddlewareInPlace shows that middleware may do the work itself.
func TestMiddlewareInPlace(t *testing.T) {
	t.Parallel()
	if _, err := engine.New(flow.Linear("f"), memstore.New(), engine.WithMiddleware(nil)); err == nil {
		t.Error("an engine took nil for middleware")
	}
	never := atom.Func("a", func(context.Context, struct{}) (string, error) { panic("called") }, atom.As("what"))
	res, err := run(t, never, engine.WithMiddleware(func(next atom.Body) atom.Body { return instead{next} }))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := engine.Get(res, atom.NewKey[string]("what")); got != "middleware" || err != nil {
		t.Errorf("the result is %q, %v", got, err)
	}
}

type instead struct{ atom.Body }

func (instead) Execute(context.Context, atom.Values) (atom.Value, error) {
	return atom.Encode("middleware")
}
