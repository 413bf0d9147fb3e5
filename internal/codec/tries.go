package codec

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// The fields of a retry's history, and of one try in it.
const (
	triesTry byte = iota + 1
	triesFailure
	triesEarlier
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
			f.try(triesTry, &h.Tries[i])
		}
		f.failure(triesFailure, h.Failure)
		f.int(triesEarlier, h.Earlier)
	})
}

func (f *fields) try(field byte, t *atom.Try) {
	f.row(field, func(f *fields) {
		f.bytes(tryValue, t.Value)
		for _, failure := range t.Failures {
			f.failure(tryFailure, failure)
		}
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
		case triesEarlier:
			h.Earlier = in.int()
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

// The fields of a payload with tries.
const (
	overflowBefore byte = iota + 1
	overflowTry
)

// EncodeTries returns the payload for tries that move out of the record of their retry, so that the record does not
// grow. before is the number of the payload with the tries before them, or 0.
func EncodeTries(before int64, tries []atom.Try) atom.Value {
	var f fields
	f.number(overflowBefore, uint64(before))
	for i := range tries {
		f.try(overflowTry, &tries[i])
	}
	return atom.Value(f)
}

func decodeTries(b []byte) (before int64, tries []atom.Try, err error) {
	s := scan{rest: b}
	for s.next() {
		switch s.field {
		case overflowBefore:
			before = int64(s.number())
		case overflowTry:
			tries = append(tries, s.try())
		default:
			s.unknown()
		}
	}
	return before, tries, s.err
}

// AllTries returns the history of a retry with all its tries, including those that moved out of its record.
func AllTries(a *storage.Atom, payload Payloads) (atom.History, error) {
	if a.Tries == nil {
		return atom.History{}, nil
	}
	h := *a.Tries
	overflows := [][]atom.Try{h.Tries}
	for ref := a.Overflow; ref != 0; {
		b, err := payload(ref)
		if err != nil {
			return h, err
		}
		before, tries, err := decodeTries(b)
		if err == nil && before >= ref {
			err = fmt.Errorf("%w: payload %d cannot come after payload %d", storage.ErrCorrupt, before, ref)
		}
		if err != nil {
			return h, fmt.Errorf("%w (tries of atom %q)", err, a.Path)
		}
		overflows, ref = append(overflows, tries), before
	}
	slices.Reverse(overflows)
	all := slices.Concat(overflows...)
	if len(all) != h.Count() {
		return h, fmt.Errorf("%w: %d tries of atom %q are there, it says %d", storage.ErrCorrupt, len(all), a.Path, h.Count())
	}
	h.Earlier, h.Tries = 0, all
	return h, nil
}
