package jq

import (
	"context"
	"encoding/json"
	"math/big"
	"time"
)

// A meter counts the steps of one evaluation. gojq asks its context before each instruction whether to stop, so the
// meter is that context. Guards charge it for expensive operations. It belongs to one goroutine.
type meter struct {
	left    int // remaining steps of the slice
	kept    int // steps of the remaining slices
	regexps map[string]*matcher

	interrupted func() bool // called at the end of each slice; nil if all steps are one slice
	failed      error       // why no steps remain
}

// slice is the number of steps between two calls of interrupted.
const slice = 20_000

func newMeter(interrupted func() bool) *meter {
	m := &meter{left: MaxSteps, interrupted: interrupted}
	if interrupted != nil {
		m.left, m.kept = slice, MaxSteps-slice
	}
	return m
}

// more starts the next slice. It returns false if no steps remain, or if the caller no longer needs the result.
func (m *meter) more() bool {
	total := m.left + m.kept
	switch {
	case m.failed != nil:
	case total < 0:
		m.failed = errSteps
	case m.interrupted():
		m.failed = errInterrupted
	default:
		m.left = min(total, slice)
		m.kept = total - m.left
		return true
	}
	m.left, m.kept = -1, 0
	return false
}

var _ context.Context = (*meter)(nil)

var spent = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done counts a step. It returns a closed channel if no steps remain.
func (m *meter) Done() <-chan struct{} {
	if m.left--; m.left < 0 && !m.more() {
		return spent
	}
	return nil
}

// Err returns nil while steps remain.
func (m *meter) Err() error {
	return m.failed
}

// Deadline returns none.
func (m *meter) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

// Value returns nothing.
func (m *meter) Value(any) any { return nil }

// charge counts steps, and returns an error if none remain.
func (m *meter) charge(steps int) error {
	if m.left -= steps; m.left < 0 && !m.more() {
		return m.failed
	}
	return nil
}

// stepBytes is the number of bytes that are read or copied in the time of a step.
const stepBytes = 128

// weight is the approximate size of a value in memory, in bytes, if nothing in it is shared.
type weight struct {
	size, depth int
}

const (
	scalarSize = 16
	memberSize = 48
)

// add weighs a value at a depth.
func (w *weight) add(v any, depth int) error {
	w.size += scalarSize
	switch v := v.(type) {
	case string:
		w.size += len(v)
	case json.Number:
		if w.size += len(v); len(v) > MaxDigits {
			return errDigits
		}
	case *big.Int:
		if w.size += v.BitLen() >> 3; v.BitLen() > maxBits {
			return errDigits
		}
	case []any:
		if err := w.enter(depth); err != nil {
			return err
		}
		for _, element := range v {
			if err := w.add(element, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := w.enter(depth); err != nil {
			return err
		}
		for name, member := range v {
			w.size += memberSize + len(name)
			if err := w.add(member, depth+1); err != nil {
				return err
			}
		}
	}
	if w.size > MaxSize {
		return errSize
	}
	return nil
}

// Size returns the approximate size of a value in memory, in bytes, if nothing in it is shared. If the value is larger
// than [MaxSize], the error wraps [ErrLimit].
func Size(v any) (int, error) {
	var w weight
	err := w.add(v, 0)
	return w.size, err
}

func (w *weight) enter(depth int) error {
	w.depth = max(w.depth, depth+1)
	if w.depth > MaxDepth {
		return errDepth
	}
	return nil
}

// weigh weighs a value and charges for it.
func (m *meter) weigh(v any) (weight, error) {
	var w weight
	if err := w.add(v, 0); err != nil {
		if m.charge(w.size/stepBytes) != nil {
			return w, m.failed
		}
		return w, err
	}
	return w, m.charge(1 + w.size/stepBytes)
}

// length is the number of elements, members or bytes of a value.
func length(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case json.Number:
		return len(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 1
}
