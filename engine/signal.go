package engine

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Signal sends a signal with a value to a run, see [atom.Awaits]. It need not have the code of the flow. If the value
// is not what the run awaits under that name, the error wraps [storage.ErrInvalid] and shows a value that is; if the
// run has ended, [storage.ErrEnded]; if it does not exist, [storage.ErrNotFound]. Then nothing was sent. An empty name
// is an error, too.
func Signal(ctx context.Context, store storage.Store, run, name string, value any) error {
	return SignalOnce(ctx, store, run, "", name, value)
}

// SignalOnce is [Signal] for a signal that may be sent again, such as after a lost answer: the run gets one message for
// each key. Messages of other kinds count, see [storage.Message]. The key "" is no key.
func SignalOnce(ctx context.Context, store storage.Store, run, key, name string, value any) error {
	if name == "" || len(name) > backend.MaxID {
		return said(storage.ErrInvalid, "the name of a signal, %.20q, has %d bytes; want 1 to %d", name, len(name),
			backend.MaxID)
	}
	body, err := atom.Encode(value)
	if err != nil {
		return fmt.Errorf("engine: the value of signal %q: %w", name, err)
	}
	m := storage.Message{Run: run, Kind: grow.MessageSignal, Name: name, Key: key, Body: body}
	return backend.Of(store).Send(ctx, m)
}
