package atom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A Verdict is a retry's decision about a failure inside its flow.
type Verdict uint8

// The verdicts, in TaskFlow's words.
const (
	VerdictRevert    Verdict = iota // undo the flow, after asking the retry around it
	VerdictRevertAll                // undo the whole run
	VerdictRetry                    // undo the flow and run it again
)

// String returns TaskFlow's word for v.
func (v Verdict) String() string {
	return [...]string{VerdictRevert: "REVERT", VerdictRevertAll: "REVERT_ALL", VerdictRetry: "RETRY"}[v]
}

// A Decision is a retry's answer to a failure.
type Decision struct {
	Verdict Verdict       // what happens to the flow
	After   time.Duration // for VerdictRetry: how long to wait before the flow runs again
	Jitter  float64       // the part of After that is random, see [Backoff]; the engine draws the random number
}

// A Try is one attempt of a retry's flow: the value the retry provided for it,
// and the first failure of each atom in it.
type Try struct {
	Value    Value      `json:"value,omitempty"`    // what the retry provided for this try
	Failures []*Failure `json:"failures,omitempty"` // failures of the flow in this try
}

// A History is everything by which a retry decides. It is stored, so a resumed run
// decides as the original one would have.
type History struct {
	// How many tries there were before Tries; 0 unless the controller is [Forgetful]
	Earlier int      `json:"earlier,omitempty"`
	Tries   []Try    `json:"tries,omitempty"`   // the tries, oldest first
	Failure *Failure `json:"failure,omitempty"` // the retry's own failure
}

// Count returns how many tries there were.
func (h *History) Count() int { return h.Earlier + len(h.Tries) }

// Last returns the last try, or nil if there was none.
func (h *History) Last() *Try {
	if len(h.Tries) == 0 {
		return nil
	}
	return &h.Tries[len(h.Tries)-1]
}

// A Controller decides for a flow. It must be a pure function of its arguments.
type Controller interface {
	// Next is called before each try of the flow. Its result is provided under the
	// retry's symbol; an error fails the retry and with it the flow.
	Next(h History, in Values) (Value, error)
	// OnFailure is asked when an atom of the flow, or a retry within it, failed.
	OnFailure(h History, in Values) (Decision, error)
}

// Forgetful is a Controller that needs only the number of tries, see [History.Count],
// and the last of them. The engine stores and passes only the newest tries, so that
// endless retrying does not need more and more memory.
type Forgetful interface {
	Controller
	// Forgetful marks the controller and is not called.
	Forgetful()
}

// Undoer is a Controller that does something of its own when its flow is undone, such as releasing what all tries
// shared. An error of Undo is a failed revert of the retry.
type Undoer interface {
	// Undo is called when the flow is undone, with its tries and the failures because of which it is undone.
	Undo(ctx context.Context, h History, failures []*Failure) error
}

// Retry returns the atom that lets c decide for the flow to which the atom is given.
func Retry(name string, c Controller, opts ...Option) *Atom {
	a := &Atom{name: name, kind: KindRetry, control: c}
	for _, opt := range opts {
		opt(a)
	}
	return a
}

// Renamed returns a copy of a under another name. A flow uses it to name its retry.
func (a *Atom) Renamed(name string) *Atom {
	b := *a
	b.name = name
	return &b
}

// As returns a copy of a whose whole result is one symbol of that name, see the option [As]. It names the value of a
// retry, so that the atoms of its flow can require it: ForEach("a", "b").As("zone").
func (a *Atom) As(symbol string) *Atom {
	b := *a
	As(symbol)(&b)
	return &b
}

// Times returns a retry controller that runs its flow up to attempts times, including the first, with the pauses of
// backoff between the tries. If codes are given, it retries only after failures with these codes. It provides the
// number of the try, from 1, under the name of [Atom.As].
func Times(attempts int, backoff Backoff, codes ...string) *Atom {
	return Retry("", times{attempts, backoff, codes, VerdictRevert})
}

// TimesThenAll is [Times], but undoes the whole run when the tries are used up.
func TimesThenAll(attempts int, backoff Backoff, codes ...string) *Atom {
	return Retry("", times{attempts, backoff, codes, VerdictRevertAll})
}

type times struct {
	attempts int
	backoff  Backoff
	codes    []string
	giveUp   Verdict
}

// Forgetful implements [Forgetful]: Next needs only the number of tries.
func (times) Forgetful() {}

func (times) outType() reflect.Type { return reflect.TypeFor[int]() }

func (t times) Next(h History, _ Values) (Value, error) { return Encode(h.Count() + 1) }

func (t times) OnFailure(h History, _ Values) (Decision, error) {
	last := h.Last()
	if last == nil || h.Count() >= t.attempts || !t.worthIt(last.Failures) {
		return Decision{Verdict: t.giveUp}, nil
	}
	return Decision{VerdictRetry, t.backoff.After(h.Count()), t.backoff.Jitter}, nil
}

// worthIt reports whether every failure of the last try has one of the codes.
func (t times) worthIt(failures []*Failure) bool {
	return len(t.codes) == 0 || !slices.ContainsFunc(failures, func(f *Failure) bool {
		return !slices.Contains(t.codes, f.Code)
	})
}

// String describes the policy, for pictures.
func (t times) String() string {
	s := fmt.Sprintf("up to %d tries", t.attempts)
	if len(t.codes) > 0 {
		s += " on " + strings.Join(t.codes, ", ")
	}
	return s
}

// AlwaysRevert returns the retry that undoes its flow at the first failure.
func AlwaysRevert() *Atom { return Retry("", always(VerdictRevert)) }

// AlwaysRevertAll returns the retry that undoes the whole run at the first
// failure.
func AlwaysRevertAll() *Atom { return Retry("", always(VerdictRevertAll)) }

type always Verdict

func (always) Forgetful() {}

func (a always) Next(History, Values) (Value, error) { return Null, nil }
func (a always) OnFailure(History, Values) (Decision, error) {
	return Decision{Verdict: Verdict(a)}, nil
}

// ForEach returns a retry that tries the flow once with each value, in order,
// until the flow succeeds. It provides the current value, under the name of [Atom.As]. ForEach panics if a value
// cannot be encoded.
func ForEach[T any](values ...T) *Atom { return triesEach(values, VerdictRevert) }

// ForEachThenAll is [ForEach], but undoes the whole run when no value is left.
func ForEachThenAll[T any](values ...T) *Atom {
	return triesEach(values, VerdictRevertAll)
}

// ForEachOf is [ForEach] over the list that symbol holds when the retry decides.
func ForEachOf(symbol string) *Atom {
	return Retry("", forEach{giveUp: VerdictRevert}, listOf(symbol))
}

// ForEachOfThenAll is [ForEachOf], but undoes the whole run when no value is
// left.
func ForEachOfThenAll(symbol string) *Atom {
	return Retry("", forEach{giveUp: VerdictRevertAll}, listOf(symbol))
}

// listOf makes the values to try those of a symbol, which must be a list.
func listOf(symbol string) Option {
	return func(a *Atom) {
		*a.arg("values") = Arg{Name: "values", Symbol: symbol, Type: reflect.TypeFor[[]any]()}
	}
}

type forEach struct {
	values []Value
	typ    reflect.Type // of the values; nil if they are those of a symbol
	giveUp Verdict
}

func (f forEach) outType() reflect.Type { return f.typ }

func triesEach[T any](values []T, giveUp Verdict) *Atom {
	return Retry("", forEach{encodeAll(values), reflect.TypeFor[T](), giveUp})
}

// ErrNoValueLeft is returned by a ForEach retry that is asked for another value
// when all are used.
var ErrNoValueLeft = Errorf(CodeNotFound, "no value is left to try")

func (f forEach) Next(h History, in Values) (Value, error) {
	left, err := f.left(h, in)
	if err != nil {
		return nil, err
	}
	if len(left) == 0 {
		return nil, ErrNoValueLeft
	}
	return left[0], nil
}

func (f forEach) OnFailure(h History, in Values) (Decision, error) {
	left, err := f.left(h, in)
	if err != nil {
		return Decision{}, err
	}
	if len(left) == 0 {
		return Decision{Verdict: f.giveUp}, nil
	}
	return Decision{Verdict: VerdictRetry}, nil
}

// left is the multiset difference of all values and those used, in order.
func (f forEach) left(h History, in Values) ([]Value, error) {
	all := f.values
	if v, ok := in.Get("values"); ok {
		if text := v.JSON(); len(text) == 0 || text[0] != '[' {
			return nil, errors.New("atom: the values to try are no list")
		}
		all = nil
		scanArray(v.JSON(), func(val []byte) { all = append(all, FromJSON(val)) })
	}
	n := len(h.Tries)
	if n <= len(all) && slices.EqualFunc(h.Tries, all[:n], func(t Try, v Value) bool { return bytes.Equal(t.Value, v) }) {
		return all[n:], nil // as they come, unless the values have changed
	}
	used := make(map[string]int, n)
	for _, t := range h.Tries {
		used[string(t.Value)]++
	}
	var left []Value
	for _, v := range all {
		if used[string(v)] > 0 {
			used[string(v)]--
			continue
		}
		left = append(left, v)
	}
	return left, nil
}

func encodeAll[T any](values []T) []Value {
	out := make([]Value, len(values))
	for i, v := range values {
		out[i] = MustEncode(v)
	}
	return out
}
