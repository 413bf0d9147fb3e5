package codec

import (
	"fmt"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// AuditLine decodes a line of an audit, which AppendHistory wrote as an entry of the history. The entry has no number
// if the line is about an object without a history. For other bytes, it returns [storage.ErrCorrupt].
func AuditLine(b []byte, seq int64) (backend.AuditLine, error) {
	entries, err := DecodeHistory(seq, b, seq-1, NewSpace(0), nil)
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("%w: a line of the audit has %d entries", storage.ErrCorrupt, len(entries))
	}
	if err != nil {
		return backend.AuditLine{}, err
	}
	return backend.AuditLine{Entry: entries[0]}, nil
}
