package swf

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Machine describes an execution of Amazon SWF to what shows runs, such as `ebb graph` and the console: its diagram,
// its history, and what it waits for. Other runs have a definition, whose machine does this.
type Machine struct {
	store backend.Reader
	run   *storage.Run
}

// MachineOf returns the machine of a run that is an execution; ok is false if it is none.
func MachineOf(store backend.Reader, run *storage.Run) (m *Machine, ok bool) {
	return &Machine{store, run}, run.Definition == "" && run.Flow == swf.FlowName && IsExecution(run)
}

// Picture returns an empty diagram: what an execution does is known when it has happened.
func (m *Machine) Picture(title string) draw.View { return draw.View{Title: title} }

// Became returns the diagram of the execution, whatever the picture and the history are.
func (m *Machine) Became(draw.View, iter.Seq2[storage.Entry, error]) (draw.View, error) {
	return m.Drawn(context.Background())
}

// Drawn returns the diagram of the execution. If it has too many nodes, the error wraps [storage.ErrNotFound].
func (m *Machine) Drawn(ctx context.Context) (draw.View, error) {
	v, err := Picture(ctx, m.store, m.run)
	if errors.Is(err, ErrManyNodes) {
		err = fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	return v, err
}

// Tracer returns a tracer that says when tasks were taken.
func (m *Machine) Tracer() grow.Tracer { return swf.Tracer() }

// Waits returns nil: the nodes of an execution tell what it waits for.
func (m *Machine) Waits(*storage.Run) *grow.Waiting { return nil }

// Handlers returns nothing: deciders handle failures.
func (m *Machine) Handlers(string) (retries, catches [][]string) { return nil, nil }
