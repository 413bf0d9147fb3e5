package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/enginetest"
)

// A shop is the world of these tests: goods in stock, money, parcels.
type shop struct {
	Stock   int
	Paid    int
	Parcels map[string]bool

	done map[string]bool // by idempotency key
}

func newShop(testing.TB) *shop {
	return &shop{Stock: 5, Parcels: map[string]bool{}, done: map[string]bool{}}
}

// shown is the part of a shop that tests compare.
type shown struct {
	Stock, Paid int
	Parcels     map[string]bool
}

func (s *shop) state() any { return shown{s.Stock, s.Paid, s.Parcels} }

// once calls f unless it was called under the call's key.
func (s *shop) once(ctx context.Context, f func()) {
	if key := atom.IdempotencyKey(ctx); !s.done[key] {
		s.done[key] = true
		f()
	}
}

// back calls f if the effect that it reverts happened under the call's key.
func (s *shop) back(ctx context.Context, f func()) {
	if key := atom.IdempotencyKey(ctx); s.done[key] {
		delete(s.done, key)
		f()
	}
}

type (
	none = struct{}
	do   = func(context.Context, none) (string, error)
	undo = func(context.Context, none, atom.Outcome[string]) error
)

// task is correct: it is idempotent, and its Revert handles every outcome.
func (s *shop) task(name string, there, back func()) *atom.Atom {
	return atom.Pair(name, s.does(there), s.undoes(back))
}

func (s *shop) does(f func()) do {
	return func(ctx context.Context, _ none) (string, error) {
		s.once(ctx, f)
		return "done", nil
	}
}

func (s *shop) undoes(f func()) undo {
	return func(ctx context.Context, _ none, _ atom.Outcome[string]) error {
		s.back(ctx, f)
		return nil
	}
}

func (s *shop) take()   { s.Stock-- }
func (s *shop) put()    { s.Stock++ }
func (s *shop) pay()    { s.Paid += 30 }
func (s *shop) refund() { s.Paid -= 30 }

// reserve and charge are correct tasks.
func (s *shop) reserve() *atom.Atom { return s.task("reserve", s.take, s.put) }
func (s *shop) charge() *atom.Atom  { return s.task("charge", s.pay, s.refund) }

// parcel is a correct task about the parcel of that name.
func (s *shop) parcel(name string) *atom.Atom {
	return s.task(name, func() { s.Parcels[name] = true }, func() { delete(s.Parcels, name) })
}

// Task makes a shop the registry of a language's tasks: do:x creates the parcel x, undo:x removes it, drop:x loses it.
func (s *shop) Task(name string) (atom.Body, error) {
	how, what, _ := strings.Cut(name, ":")
	switch how {
	case "do", "undo", "drop":
		return shopTask{s, how, what}, nil
	default:
		return nil, fmt.Errorf("the shop has no %s", name)
	}
}

type shopTask struct {
	s         *shop
	how, what string
}

func (b shopTask) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	if b.how == "undo" {
		return nil, errors.New("an undo is no task")
	}
	name := b.what
	if v := in.Input(); b.what == "item" {
		name = v.String()
	}
	if b.how == "drop" {
		delete(b.s.Parcels, name)
		return nil, nil
	}
	b.s.once(ctx, func() { b.s.Parcels[name] = true })
	return atom.Encode(name)
}

func (b shopTask) Revert(ctx context.Context, _ atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	b.s.back(ctx, func() { delete(b.s.Parcels, b.what) })
	return nil, nil
}

func (b shopTask) Reverts() bool { return b.how == "undo" }

// A reporter is a testing.TB that keeps the messages.
type reporter struct {
	testing.TB

	failures []string
	logs     []string
}

func (r *reporter) Helper() {}

func (r *reporter) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *reporter) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

// failAt runs FailAt in a shop, and returns the messages to a test.
func failAt(w enginetest.World[*shop]) *reporter {
	r := &reporter{}
	if w.New == nil {
		w.New = newShop
	}
	if w.State == nil {
		w.State = (*shop).state
	}
	enginetest.FailAt(r, w)
	return r
}
