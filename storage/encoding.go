package storage

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// Payloads returns one payload of the run that a record belongs to. Stores pass
// one to the Decode functions, which fill in the values that a record refers to.
type Payloads func(ref int64) (atom.Value, error)

// The fields of an atom's record. Numbers are stored: they never change, and
// none is used twice.
const (
	atomKind byte = iota + 1
	atomIncarnation
	atomAttempt
	atomState
	atomIntention
	atomLive
	atomSpec
	atomInput
	atomNote
	atomResult
	atomEnded
	atomFailure
	atomRevertResult
	atomRevertFailure
	atomTries
	atomProgress
	atomDetails
	atomDue
	atomStartedAt
	atomEndedAt
)

// AppendBinary appends the form in which stores keep the atom, without its
// path. It never fails.
func (a *Atom) AppendBinary(b []byte) ([]byte, error) {
	f := fields(b)
	f.number(atomKind, uint64(a.Kind))
	f.int(atomIncarnation, a.Incarnation)
	f.int(atomAttempt, a.Attempt)
	f.number(atomState, uint64(a.State))
	f.number(atomIntention, uint64(a.Intention))
	f.flag(atomLive, a.Live)
	f.bytes(atomSpec, a.Spec)
	f.held(atomInput, a.Input)
	f.held(atomNote, a.Note)
	f.held(atomResult, a.Result)
	f.number(atomEnded, uint64(a.Ended))
	f.failure(atomFailure, a.Failure)
	f.held(atomRevertResult, a.RevertResult)
	f.failure(atomRevertFailure, a.RevertFailure)
	f.tries(atomTries, a.Tries)
	f.number(atomProgress, math.Float64bits(a.Progress))
	f.bytes(atomDetails, a.Details)
	f.time(atomDue, a.Due)
	f.time(atomStartedAt, a.StartedAt)
	f.time(atomEndedAt, a.EndedAt)
	return f, nil
}

// DecodeAtom reads what AppendBinary wrote. It returns [ErrCorrupt] for
// anything else.
func DecodeAtom(path string, b []byte, payload Payloads) (Atom, error) {
	a := Atom{Path: path}
	s := scan{rest: b}
	for s.next() {
		switch s.field {
		case atomKind:
			a.Kind = AtomKind(s.byte())
		case atomIncarnation:
			a.Incarnation = s.int()
		case atomAttempt:
			a.Attempt = s.int()
		case atomState:
			a.State = states.Task(s.byte())
		case atomIntention:
			a.Intention = states.Intention(s.byte())
		case atomLive:
			a.Live = s.flag()
		case atomSpec:
			a.Spec = s.value()
		case atomInput:
			a.Input = s.held(payload)
		case atomNote:
			a.Note = s.held(payload)
		case atomResult:
			a.Result = s.held(payload)
		case atomEnded:
			a.Ended = EndMark(s.byte())
		case atomFailure:
			a.Failure = s.failure()
		case atomRevertResult:
			a.RevertResult = s.held(payload)
		case atomRevertFailure:
			a.RevertFailure = s.failure()
		case atomTries:
			a.Tries = s.tries()
		case atomProgress:
			a.Progress = math.Float64frombits(s.number())
		case atomDetails:
			a.Details = s.value()
		case atomDue:
			a.Due = s.time()
		case atomStartedAt:
			a.StartedAt = s.time()
		case atomEndedAt:
			a.EndedAt = s.time()
		default:
			s.unknown()
		}
	}
	if s.err != nil {
		return Atom{}, fmt.Errorf("%w (atom %q)", s.err, path)
	}
	return a, nil
}

// isLive tells whether the record of an atom says that it is live.
func isLive(record []byte) bool {
	s := scan{rest: record}
	for s.next() && s.field <= atomLive {
		if s.field == atomLive {
			return s.flag()
		}
	}
	return false
}

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
)

func (e *Entry) append(f *fields) {
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
}

func (s *scan) entry(payload Payloads) Entry {
	var e Entry
	for s.next() {
		switch s.field {
		case entryKind:
			e.Kind = EntryKind(s.byte())
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
		default:
			s.unknown()
		}
	}
	return e
}

// AppendHistory appends the form in which stores keep consecutive entries. Their
// numbers are not in it: the number of the first is the key of the whole.
func AppendHistory(b []byte, entries []Entry) []byte {
	for i := range entries {
		start := len(b)
		b = append(b, 0) // the length, which nearly always fits in one byte
		f := fields(b)
		entries[i].append(&f)
		b = f
		size := len(b) - start - 1
		if size < 0x80 {
			b[start] = byte(size)
			continue
		}
		var length [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(length[:], uint64(size))
		b = append(b, length[:n-1]...) // room
		copy(b[start+n:], b[start+1:start+1+size])
		copy(b[start:], length[:n])
	}
	return b
}

// DecodeHistory reads what AppendHistory wrote, but skips entries with numbers
// up to after, and stops at limit entries; 0 is all. It returns [ErrCorrupt]
// for anything else.
func DecodeHistory(first int64, b []byte, after int64, limit int, payload Payloads) ([]Entry, error) {
	var out []Entry
	for seq := first; len(b) > 0 && (limit == 0 || len(out) < limit); seq++ {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, fmt.Errorf("%w: history entry %d is cut off", ErrCorrupt, seq)
		}
		row := b[n : n+int(size)]
		b = b[n+int(size):]
		if seq <= after {
			continue
		}
		s := scan{rest: row}
		e := s.entry(payload)
		if s.err != nil {
			return nil, fmt.Errorf("%w (history entry %d)", s.err, seq)
		}
		e.Seq = seq
		out = append(out, e)
	}
	return out, nil
}

// The fields of a failure.
const (
	failureAtom byte = iota + 1
	failureCode
	failureMessage
	failureStack
	failureAttempt
	failureBare
)

func (f *fields) failure(field byte, v *atom.Failure) {
	if v == nil {
		return
	}
	f.row(field, func(f *fields) { appendFailure(f, v) })
}

func appendFailure(f *fields, v *atom.Failure) {
	f.text(failureAtom, v.Atom)
	f.text(failureCode, v.Code)
	f.text(failureMessage, v.Message)
	f.text(failureStack, v.Stack)
	f.int(failureAttempt, v.Attempt)
	f.flag(failureBare, v.Bare)
}

func (s *scan) failure() *atom.Failure {
	in := s.row()
	v := in.failureRow()
	s.end(in)
	return v
}

func (s *scan) failureRow() *atom.Failure {
	var v atom.Failure
	for s.next() {
		switch s.field {
		case failureAtom:
			v.Atom = s.text()
		case failureCode:
			v.Code = s.text()
		case failureMessage:
			v.Message = s.text()
		case failureStack:
			v.Stack = s.text()
		case failureAttempt:
			v.Attempt = s.int()
		case failureBare:
			v.Bare = s.flag()
		default:
			s.unknown()
		}
	}
	return &v
}

// EncodeFailure returns the form in which stores keep a failure that has a
// column of its own; nil for nil.
func EncodeFailure(v *atom.Failure) []byte {
	if v == nil {
		return nil
	}
	f := fields{}
	appendFailure(&f, v)
	return f
}

// DecodeFailure reads what EncodeFailure wrote. It returns [ErrCorrupt] for
// anything else.
func DecodeFailure(b []byte) (*atom.Failure, error) {
	if b == nil {
		return nil, nil
	}
	s := scan{rest: b}
	v := s.failureRow()
	return v, s.err
}

// The fields of a retry's history, and of one try in it.
const (
	triesTry byte = iota + 1
	triesFailure
)

const (
	tryValue byte = iota + 1
	tryFailure
)

func (f *fields) tries(field byte, h *atom.History) {
	if h == nil {
		return
	}
	f.row(field, func(f *fields) {
		for i := range h.Tries {
			f.row(triesTry, func(f *fields) {
				f.bytes(tryValue, h.Tries[i].Value)
				for _, failure := range h.Tries[i].Failures {
					f.failure(tryFailure, failure)
				}
			})
		}
		f.failure(triesFailure, h.Failure)
	})
}

func (s *scan) tries() *atom.History {
	var h atom.History
	in := s.row()
	for in.next() {
		switch in.field {
		case triesTry:
			h.Tries = append(h.Tries, in.try())
		case triesFailure:
			h.Failure = in.failure()
		default:
			in.unknown()
		}
	}
	s.end(in)
	return &h
}

func (s *scan) try() atom.Try {
	var t atom.Try
	in := s.row()
	for in.next() {
		switch in.field {
		case tryValue:
			t.Value = in.value()
		case tryFailure:
			t.Failures = append(t.Failures, in.failure())
		default:
			in.unknown()
		}
	}
	s.end(in)
	return t
}
