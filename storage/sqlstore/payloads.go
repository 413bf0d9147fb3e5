package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
)

const (
	insertPayload = `INSERT INTO payloads (run, ref, data) VALUES (?, ?, ?)`
	selectPayload = `SELECT data FROM payloads WHERE run = ? AND ref = ?`
)

func writePayloads(ctx context.Context, w *session, n int64, payloads []storage.Payload) error {
	for i := range payloads {
		data := []byte(payloads[i].Data)
		if data == nil {
			data = []byte{} // no value is a value here
		}
		if err := w.post(ctx, nil, insertPayload, n, payloads[i].Ref, data); err != nil {
			return err
		}
	}
	return nil
}

// payloadsOf returns what reads the payloads of a run, each once.
func payloadsOf(ctx context.Context, s *session, n int64) codec.Payloads {
	read := map[int64]atom.Value{}
	return func(ref int64) (atom.Value, error) {
		if data, known := read[ref]; known {
			return data, nil
		}
		var data []byte
		err := s.get(ctx, &data, selectPayload, n, ref)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, fmt.Errorf("%w: payload %d is not there", storage.ErrCorrupt, ref)
		}
		if err == nil {
			read[ref] = data
		}
		return data, err
	}
}
