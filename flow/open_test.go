package flow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// TestCompileOpen: a symbol that no atom provides is an input. One that comes too late, or does not fit, is a mistake
// nevertheless.
func TestCompileOpen(t *testing.T) {
	t.Parallel()
	type in struct {
		N int `json:"n"`
		M int `json:"m"`
	}
	type wrong struct {
		N string `json:"n"`
	}
	needs := func(name string) *atom.Atom {
		return atom.Func(name, func(context.Context, in) (int, error) { return 0, nil }, atom.As(name))
	}
	plan, err := flow.CompileOpen(flow.Linear("f", needs("n"), needs("k")), nil)
	var problems flow.Problems
	if !errors.As(err, &problems) || plan != nil { // the first needs n, which it provides itself
		t.Errorf("too late: %v", err)
	}
	plan, err = flow.CompileOpen(flow.Linear("f", needs("a"), needs("b")), nil)
	if err != nil || len(plan.Inputs) != 2 || plan.Inputs[0].Symbol != "n" || plan.Inputs[1].Symbol != "m" {
		t.Errorf("inputs are %+v (%v)", plan, err)
	}
	misfit := atom.Func("c", func(context.Context, wrong) (int, error) { return 0, nil })
	if _, err = flow.CompileOpen(flow.Linear("f", needs("m"), misfit), nil); !errors.As(err, &problems) {
		t.Errorf("too late beside a misfit: %v", err)
	}
	if _, err = flow.CompileOpen(nil, nil); !errors.As(err, &problems) {
		t.Errorf("no flow: %v", err)
	}
}
