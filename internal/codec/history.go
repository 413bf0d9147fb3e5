package codec

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// The fields of a history entry's record.
const (
	entryKind byte = iota + 1
	entryTime
	entryPath
	entryFrom
	entryTo
	entryIncarnation
	entryAttempt
	entryFailure
	entryNumber
	entryPrev
	entryType
	entryDetails
	entryKey
	entryBody
	entryFlow
	entryWaited // in microseconds
	entryEnded
	entryIssuer
)

func (s *scan) entry(payload Payloads) storage.Entry {
	var e storage.Entry
	for s.next() {
		switch s.field {
		case entryKind:
			e.Kind = storage.EntryKind(s.byte())
		case entryTime:
			e.Time = s.time()
		case entryPath:
			e.Path = s.text()
		case entryFrom:
			e.From = s.byte()
		case entryTo:
			e.To = s.byte()
		case entryIncarnation:
			e.Incarnation = s.int()
		case entryAttempt:
			e.Attempt = s.int()
		case entryFailure:
			e.Failure = s.failure()
		case entryNumber:
			e.Number = int64(s.number())
		case entryPrev:
			e.Prev = int64(s.number())
		case entryType:
			e.Type = s.text()
		case entryDetails:
			e.Details = s.value()
		case entryKey:
			e.Key = s.text()
		case entryBody:
			e.Body = s.held(payload)
		case entryFlow:
			e.Flow = s.text()
		case entryWaited:
			e.Waited = time.Duration(s.number()) * time.Microsecond
		case entryEnded:
			e.Ended = s.time()
		case entryIssuer:
			e.Issuer = storage.ParseIssuer(s.text())
		default:
			s.unknown()
		}
	}
	return e
}

// AppendHistory appends consecutive entries in the form in which stores keep them. This form does not contain the
// numbers of the entries: the number of the first entry is the key of the whole.
func AppendHistory(b []byte, entries []storage.Entry) []byte {
	for i := range entries {
		start := len(b)
		e, f := &entries[i], fields(append(b, 0)) // the length, which nearly always fits in one byte
		f.number(entryKind, uint64(e.Kind))
		f.time(entryTime, e.Time)
		f.text(entryPath, e.Path)
		f.number(entryFrom, uint64(e.From))
		f.number(entryTo, uint64(e.To))
		f.int(entryIncarnation, e.Incarnation)
		f.int(entryAttempt, e.Attempt)
		f.failure(entryFailure, e.Failure)
		f.number(entryNumber, uint64(e.Number))
		f.number(entryPrev, uint64(e.Prev))
		f.text(entryType, e.Type)
		f.bytes(entryDetails, e.Details)
		f.text(entryKey, e.Key)
		f.held(entryBody, e.Body)
		f.text(entryFlow, e.Flow)
		f.number(entryWaited, uint64(max(e.Waited, 0)/time.Microsecond))
		f.time(entryEnded, e.Ended)
		f.text(entryIssuer, e.Issuer.Text())
		b = f
		size := len(b) - start - 1
		if size < 0x80 {
			b[start] = byte(size)
			continue
		}
		var length [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(length[:], uint64(size))
		b = append(b, length[:n-1]...) // space for the other bytes of the length
		copy(b[start+n:], b[start+1:start+1+size])
		copy(b[start:], length[:n])
	}
	return b
}

// DecodeHistory decodes the output of AppendHistory. It skips entries with numbers up to after, and stops when the
// space is full. For other bytes, it returns [storage.ErrCorrupt].
func DecodeHistory(first int64, b []byte, after int64, space *Space, payload Payloads) ([]storage.Entry, error) {
	var out []storage.Entry
	for seq := first; len(b) > 0 && !space.Full(); seq++ {
		row, rest, err := nextEntry(seq, b)
		if err != nil {
			return nil, err
		}
		b = rest
		if seq <= after {
			continue
		}
		s := scan{rest: row}
		e := s.entry(space.Counting(payload))
		if s.err != nil {
			return nil, fmt.Errorf("%w (history entry %d)", s.err, seq)
		}
		space.Take(len(row))
		e.Seq = seq
		out = append(out, e)
	}
	return out, nil
}
