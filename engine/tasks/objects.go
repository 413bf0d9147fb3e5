package tasks

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
)

// writing is the task that writes the results of a distributed Map.
type writing struct{ registry *Registry }

// Execute writes parts of objects.
func (t writing) Execute(_ context.Context, in atom.Values) (atom.Value, error) {
	var w asl.ObjectWrite
	if err := in.Input().Decode(&w); err != nil {
		return nil, err
	}
	b, err := t.registry.bucket(w.Bucket)
	if err != nil {
		return nil, err
	}
	for _, part := range w.Parts {
		if err := b.Write(part.Key, part.Offset, part.Text); err != nil {
			return nil, fmt.Errorf("the object %q of the bucket %s cannot be written: %w", part.Key, w.Bucket, err)
		}
	}
	return atom.Null, nil
}

// Revert leaves the results in place, because the work that they describe was done.
func (writing) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

// Reverts reports that there is nothing to undo.
func (writing) Reverts() bool { return false }
