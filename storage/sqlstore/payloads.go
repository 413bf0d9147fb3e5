package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
)

var insertPayload = statement{
	onSQLite:   `INSERT INTO payloads (run, ref, data) VALUES (?, ?, ?)`,
	onPostgres: `INSERT INTO payloads (run, ref, data) VALUES ($1, $2, $3)`,
}

const selectPayload = `SELECT data FROM payloads WHERE run = $1 AND ref = $2`

func writePayloads(ctx context.Context, w *session, n int64, payloads []backend.Payload) error {
	for i := range payloads {
		data := []byte(payloads[i].Data)
		if data == nil {
			data = []byte{} // NULL would mean that there is no payload
		}
		if err := w.Post(ctx, nil, insertPayload[w.dialect.db], n, payloads[i].Ref, data); err != nil {
			return err
		}
	}
	return nil
}

// payloadsOf returns a function that reads payloads of a run, each only once.
func payloadsOf(ctx context.Context, s *session, n int64) codec.Payloads {
	read := map[int64]atom.Value{}
	return func(ref int64) (atom.Value, error) {
		if data, known := read[ref]; known {
			return data, nil
		}
		var data []byte
		err := s.Get(ctx, &data, selectPayload, n, ref)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, fmt.Errorf("%w: payload %d is missing", storage.ErrCorrupt, ref)
		}
		if err == nil {
			read[ref] = data
		}
		return data, err
	}
}
