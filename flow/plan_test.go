package flow_test

import (
	"context"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// task returns a task that does nothing.
func task(name string, opts ...atom.Option) *atom.Atom {
	do := func(context.Context, atom.Values) (any, error) { return nil, nil } //nolint:nilnil // nothing
	return atom.Untyped(name, do, nil, opts...)
}

// gives returns a task that requires and provides symbols.
func gives(name, provides string, requires ...string) *atom.Atom {
	opts := []atom.Option{atom.Requires(requires...)}
	if provides != "" {
		opts = append(opts, atom.Provides(provides))
	}
	return task(name, opts...)
}

// retrying returns a retry that provides a symbol.
func retrying(provides string) *atom.Atom {
	return atom.Times(2, atom.Backoff{}).As(provides)
}

func compile(t *testing.T, root flow.Node) *flow.Plan {
	t.Helper()
	plan, err := flow.Compile(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// orders returns which atom comes directly before which, as "a>b".
func orders(plan *flow.Plan) []string {
	var out []string
	for i := range plan.Atoms {
		seen := map[int32]bool{}
		for work := slices.Clone(plan.Succ(plan.Atoms[i].Node)); len(work) > 0; work = work[1:] {
			n := work[0]
			if seen[n] {
				continue
			}
			seen[n] = true
			if a := plan.Nodes[n].Atom; a >= 0 {
				out = append(out, plan.Atoms[i].Name()+">"+plan.Atoms[a].Name())
			} else {
				work = append(work, plan.Succ(n)...)
			}
		}
	}
	slices.Sort(out)
	return out
}

func names(plan *flow.Plan) []string {
	out := make([]string, len(plan.Atoms))
	for i := range plan.Atoms {
		out[i] = plan.Atoms[i].Name()
	}
	return out
}
