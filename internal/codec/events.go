package codec

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

// A Chunk is consecutive entries of a history in the form of [AppendHistory].
type Chunk struct {
	First int64  // number of the first entry
	Event int64  // number of the first event of the language; 0 if the chunk has none
	Rows  []byte // the entries
}

// EachChunk splits entries into chunks of about the given number of bytes, and calls f for each. It returns
// [storage.ErrCorrupt], or the first error of f.
func EachChunk(first int64, b []byte, size int, f func(Chunk) error) error {
	chunk, rest := Chunk{First: first}, b
	for seq := first; len(rest) > 0; {
		row, after, err := nextEntry(seq, rest)
		if err != nil {
			return err
		}
		if chunk.Event == 0 {
			if chunk.Event, err = eventOf(seq, row); err != nil {
				return err
			}
		}
		seq, rest = seq+1, after
		switch done := len(b) - len(rest); {
		case len(b) <= size && chunk.Event != 0:
			rest = nil // the rest is in the same chunk
		case done >= size:
			chunk.Rows, b = b[:done:done], rest
			if err := f(chunk); err != nil {
				return err
			}
			chunk = Chunk{First: seq}
		}
	}
	if len(b) == 0 {
		return nil
	}
	chunk.Rows = b
	return f(chunk)
}

// nextEntry returns the row of the first entry, and the rest.
func nextEntry(seq int64, b []byte) (row, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, fmt.Errorf("%w: history entry %d is cut off", storage.ErrCorrupt, seq)
	}
	return b[n : n+int(size)], b[n+int(size):], nil
}

// eventOf returns the number of the event in a row, or 0 if the entry is not an event.
func eventOf(seq int64, row []byte) (int64, error) {
	s := scan{rest: row}
	for s.next() {
		switch {
		case s.field == entryKind && s.num != uint64(storage.EntryEvent), s.field > entryNumber:
			return 0, nil
		case s.field == entryNumber:
			return int64(s.number()), s.err
		}
	}
	if s.err != nil {
		return 0, fmt.Errorf("%w (history entry %d)", s.err, seq)
	}
	return 0, nil
}

// An Event is an entry that an EventQuery selects. It is not decoded yet.
type Event struct {
	seq int64
	row []byte
}

// FindEvents appends the events among entries that the query selects, in the query's order.
func FindEvents(found []Event, first int64, b []byte, q *storage.EventQuery) ([]Event, error) {
	before := len(found)
	for seq := first; len(b) > 0; seq++ {
		row, rest, err := nextEntry(seq, b)
		if err != nil {
			return found, err
		}
		number, err := eventOf(seq, row)
		if err != nil {
			return found, err
		}
		if number != 0 && (q.After <= 0 || q.Reverse == (number < q.After) && number != q.After) {
			found = append(found, Event{seq, row})
		}
		b = rest
	}
	if q.Reverse {
		slices.Reverse(found[before:])
	}
	return found, nil
}

// DecodeEvents decodes events until the space is full.
func DecodeEvents(found []Event, space *Space, payload Payloads) ([]storage.Entry, error) {
	out := make([]storage.Entry, 0, len(found))
	for _, event := range found {
		if space.Full() {
			break
		}
		s := scan{rest: event.row}
		e := s.entry(space.Counting(payload))
		if s.err != nil {
			return nil, fmt.Errorf("%w (history entry %d)", s.err, event.seq)
		}
		space.Take(len(event.row))
		e.Seq = event.seq
		out = append(out, e)
	}
	return out, nil
}
