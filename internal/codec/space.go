package codec

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A Space is the rest of a page that a store reads.
type Space struct {
	endless        bool
	records, bytes int
}

// NewSpace returns the space of a page of up to limit records. With 0, it has no limit.
func NewSpace(limit int) *Space {
	return &Space{endless: limit <= 0, records: limit, bytes: storage.PageBytes}
}

// Full reports whether no further record belongs in the page.
func (s *Space) Full() bool { return !s.endless && (s.records <= 0 || s.bytes <= 0) }

// Take takes the space of a record of the given number of bytes.
func (s *Space) Take(bytes int) { s.records, s.bytes = s.records-1, s.bytes-bytes }

// Counting returns payloads that take their bytes from the space.
func (s *Space) Counting(payload Payloads) Payloads {
	return func(ref int64) (atom.Value, error) {
		data, err := payload(ref)
		s.bytes -= len(data)
		return data, err
	}
}
