package conductor

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Factory makes the flow of a run from the run's input, which is stored. For an input, it always makes a flow of one
// structure: when a process resumes a run, it makes the flow again. If it makes another, the run does not change, see
// [engine.ErrChanged].
type Factory func(input atom.Value) (flow.Node, error)

// Factory lets the catalog run flows of that name whose structure depends on the input of the job or run. The flow has
// the same name. If the factory returns an error, the job is parked.
//
// A growing flow can begin such a run, whose flow is made from what it decides then, and undo it with its own:
//
//	grow.Spec{Name: "provision", Kind: grow.Nested, Child: &grow.Child{Flow: "provision", Input: hosts}}
//
// In a factory's flow, flow.Run and flow.Each begin runs of flows that it has made.
func (c *Catalog) Factory(name string, f Factory) *Catalog {
	switch {
	case f == nil:
		c.problems = append(c.problems, fmt.Errorf("conductor: the factory of flow %q is nil", name))
	case len(c.flows[name]) > 0 || c.factories[name] != nil:
		c.problems = append(c.problems, fmt.Errorf("conductor: flow %q is in the catalog already", name))
	default:
		if err := backend.CheckID("flow", name); err != nil {
			c.problems = append(c.problems, fmt.Errorf("conductor: %w", err))
		}
		c.factories[name] = f
	}
	return c
}

// flow returns the flow for an input.
func (f Factory) flow(name string, input atom.Value) (flow.Node, error) {
	root, err := f(input)
	switch {
	case err != nil:
		return nil, fmt.Errorf("conductor: the factory of flow %q: %w", name, err)
	case root == nil:
		return nil, fmt.Errorf("conductor: the factory of flow %q returned no flow", name)
	case root.Name() != name:
		return nil, fmt.Errorf("conductor: the factory of flow %q returned a flow %q; give it the same name", name,
			root.Name())
	}
	return root, nil
}

// childOfFactory returns the flow of a run that an atom of a factory's flow started; nil if none of the run's ancestors
// has a factory that makes such a flow. That flow may itself have been started by another flow, such as a machine.
func (c *serving) childOfFactory(ctx context.Context, run *storage.Run) (flow.Node, error) {
	above, err := c.store.Run(ctx, run.Parent)
	for ; err == nil; above, err = c.store.Run(ctx, above.Parent) {
		if f := c.factories[above.Flow]; f != nil {
			return f.child(run, &above)
		}
		if above.Parent == "" {
			return nil, nil //nolint:nilnil // no flow has a factory
		}
	}
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil //nolint:nilnil // it was pruned
	}
	return nil, &engine.StoreError{Err: err}
}

// child returns the flow of a run that an atom of the flow of another run started; nil if there is no such atom.
func (f Factory) child(run, of *storage.Run) (flow.Node, error) {
	root, err := f.flow(of.Flow, of.Input.Data)
	if err != nil {
		return nil, err
	}
	plan, err := flow.CompileOpen(root, nil)
	if err != nil {
		return nil, err
	}
	for _, child := range plan.Children {
		if child.Flow == run.Flow && (run.Structure == "" || run.Structure == child.Hash) {
			return child.Root, nil
		}
	}
	return nil, nil //nolint:nilnil // its flow has no such child
}
