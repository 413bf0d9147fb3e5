package codec

import (
	"github.com/ebbflow/ebb/atom"
)

// The fields of a failure.
const (
	failureAtom byte = iota + 1
	failureCode
	failureMessage
	failureStack
	failureAttempt
	failureBare
	failureDetails
	failureFinal
	failureUntaken
)

func (f *fields) failure(field byte, v *atom.Failure) {
	if v == nil {
		return
	}
	f.row(field, func(f *fields) { appendFailure(f, v) })
}

func appendFailure(f *fields, v *atom.Failure) {
	v = v.Bounded()
	f.text(failureAtom, v.Atom)
	f.text(failureCode, v.Code)
	f.text(failureMessage, v.Message)
	f.text(failureStack, v.Stack)
	f.int(failureAttempt, v.Attempt)
	f.flag(failureBare, v.Bare)
	f.bytes(failureDetails, v.Details)
	f.flag(failureFinal, v.Final)
	f.flag(failureUntaken, v.Untaken)
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
		case failureDetails:
			v.Details = s.value()
		case failureFinal:
			v.Final = s.flag()
		case failureUntaken:
			v.Untaken = s.flag()
		default:
			s.unknown()
		}
	}
	return &v
}

// EncodeFailure returns the form of a failure that has a column of its own, or nil for nil.
func EncodeFailure(v *atom.Failure) []byte {
	if v == nil {
		return nil
	}
	f := fields{}
	appendFailure(&f, v)
	return f
}

// DecodeFailure decodes the output of EncodeFailure. For other bytes, it returns [storage.ErrCorrupt].
func DecodeFailure(b []byte) (*atom.Failure, error) {
	s := scan{rest: b}
	var v *atom.Failure
	if b != nil {
		v = s.failureRow()
	}
	return v, s.err
}
