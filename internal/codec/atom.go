package codec

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Payloads returns one payload of the run that a record belongs to. Stores pass
// one to the Decode functions, which fill in the values that a record refers to.
type Payloads func(ref int64) (atom.Value, error)

// The fields of an atom's record. The numbers are stored: they never change, and each is used once.
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
	atomWideProgress // read only: up to schema 1 the bits were not reversed
	atomDetails
	atomDue
	atomStartedAt
	atomEndedAt
	atomRevertAttempt
	atomProgress
	atomOverflow
	atomUndo
	atomSignal
	atomSuccessor
	atomRunEnd
)

// AppendAtom appends the form in which stores keep the atom, without its path.
func AppendAtom(b []byte, a *storage.Atom) []byte {
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
	f.number(atomProgress, bits.ReverseBytes64(math.Float64bits(a.Progress))) // short for what is not odd
	f.bytes(atomDetails, a.Details)
	f.time(atomDue, a.Due)
	f.time(atomStartedAt, a.StartedAt)
	f.time(atomEndedAt, a.EndedAt)
	f.int(atomRevertAttempt, a.RevertAttempt)
	f.number(atomOverflow, uint64(a.Overflow))
	f.number(atomUndo, uint64(a.Undo))
	f.text(atomSignal, a.Signal)
	f.text(atomSuccessor, a.Successor)
	f.number(atomRunEnd, uint64(a.RunEnd))
	return f
}

// DecodeAtom decodes the output of AppendAtom. For other bytes, it returns [storage.ErrCorrupt].
func DecodeAtom(path string, b []byte, payload Payloads) (storage.Atom, error) {
	a := storage.Atom{Path: path}
	s := scan{rest: b}
	for s.next() {
		switch s.field {
		case atomKind:
			a.Kind = storage.AtomKind(s.byte())
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
			a.Ended = grow.EndMark(s.byte())
		case atomFailure:
			a.Failure = s.failure()
		case atomRevertResult:
			a.RevertResult = s.held(payload)
		case atomRevertFailure:
			a.RevertFailure = s.failure()
		case atomTries:
			a.Tries = s.tries()
		case atomWideProgress:
			a.Progress = math.Float64frombits(s.number())
		case atomProgress:
			a.Progress = math.Float64frombits(bits.ReverseBytes64(s.number()))
		case atomDetails:
			a.Details = s.value()
		case atomDue:
			a.Due = s.time()
		case atomStartedAt:
			a.StartedAt = s.time()
		case atomEndedAt:
			a.EndedAt = s.time()
		case atomRevertAttempt:
			a.RevertAttempt = s.int()
		case atomOverflow:
			a.Overflow = int64(s.number())
		case atomUndo:
			a.Undo = storage.UndoMode(s.byte())
		case atomSignal:
			a.Signal = s.text()
		case atomSuccessor:
			a.Successor = s.text()
		case atomRunEnd:
			a.RunEnd = grow.RunEnd(s.byte())
		default:
			s.unknown()
		}
	}
	if s.err != nil {
		return storage.Atom{}, fmt.Errorf("%w (atom %q)", s.err, path)
	}
	return a, nil
}

// IsLive reports whether the record of an atom is live.
func IsLive(record []byte) bool {
	s := scan{rest: record}
	for s.next() && s.field <= atomLive {
		if s.field == atomLive {
			return s.flag()
		}
	}
	return false
}
