package conductor

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A Factory makes the flow of a run from the run's input, which is stored. For an input, it always makes a flow of one
// structure: when a process resumes a run, it makes the flow again. If it makes another, the run does not change, see
// [engine.ErrChanged].
type Factory func(input atom.Value) (flow.Node, error)

// Factory lets the catalog run flows of that name whose structure depends on the input of the job or run. The flow has
// the same name. If the factory returns an error, the job is parked.
func (c *Catalog) Factory(name string, f Factory) *Catalog {
	switch {
	case f == nil:
		c.problems = append(c.problems, fmt.Errorf("conductor: the factory of flow %q is nil", name))
	case len(c.flows[name]) > 0 || c.factories[name] != nil:
		c.problems = append(c.problems, fmt.Errorf("conductor: flow %q is in the catalog already", name))
	default:
		if err := storage.CheckID("flow", name); err != nil {
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

// childOfFactory returns the flow of a run that an atom of a factory's flow started; nil if the first run of its
// ancestors has no such flow.
func (c *serving) childOfFactory(ctx context.Context, run *storage.Run) (flow.Node, error) {
	first, err := c.store.Run(ctx, run.Root)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil //nolint:nilnil // it was pruned
	}
	if err != nil {
		return nil, &engine.StoreError{Err: err}
	}
	f := c.factories[first.Flow]
	if f == nil {
		return nil, nil //nolint:nilnil // its flow has no factory
	}
	root, err := f.flow(first.Flow, first.Input.Data)
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
