package scheduler

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

var noTime time.Time

// Args returns the values of the arguments with which an atom is executed. If a required value is missing, it
// returns the failure of the atom, which is then not called. A value that existed for an earlier attempt still exists,
// because the atom that provides it is reverted after its consumers. So no attempt was called.
func (s *Scheduler) Args(u *Unit) (atom.Values, *atom.Failure) {
	in, missing := s.bind(u, u.Planned.Args())
	if missing != nil {
		missing.Untaken = true
	}
	return in, missing
}

// bind finds the values of an atom's arguments. A value that was injected into the atom takes precedence, then the
// run's input, then the nearest atom before it that provides the symbol. If a required value is missing, bind
// returns the failure of the atom.
func (s *Scheduler) bind(u *Unit, args []atom.Arg) (atom.Values, *atom.Failure) {
	if len(args) == 0 {
		return atom.Values{}, nil
	}
	vals := make([]atom.Value, len(args))
	for i := range args {
		v, ok := s.Lookup(u, args[i].Symbol)
		if !ok && !args[i].Optional {
			return atom.Values{}, &atom.Failure{
				Atom: u.Path, Code: atom.CodeNotFound, Attempt: int(u.Rec.Attempt),
				Message: fmt.Sprintf("required symbol %q has no value", args[i].Symbol),
			}
		}
		vals[i] = v
	}
	return atom.NewValues(args, vals), nil
}

// Lookup returns the value of a symbol as the atom sees it.
func (s *Scheduler) Lookup(u *Unit, symbol string) (atom.Value, bool) {
	if symbol == "" {
		return s.whole, s.whole != nil
	}
	if v, ok := u.Planned.Injected(symbol); ok {
		return v, true
	}
	if v, ok := s.input[symbol]; ok {
		return v, true
	}
	var found atom.Value
	ok := false
	s.plan.Providers(u.Index, symbol, func(from int32, part atom.Provide) bool {
		if v, has := s.ValueOf(from); has {
			found, ok = part.Of(v)
		}
		return !ok
	})
	return found, ok
}

// ValueOf returns the value that an atom provides now: its result or, for a retry, the value of its current try.
func (s *Scheduler) ValueOf(a int32) (atom.Value, bool) {
	r := &s.units[a].Rec
	if r.Failure != nil || r.State != states.TaskSuccess && r.State != states.TaskReverting {
		return nil, false
	}
	if s.units[a].IsRetry() {
		h := r.Tries()
		if last := h.Last(); last != nil {
			return last.Value, true
		}
		return nil, false
	}
	return r.Result, r.Ended == grow.EndValue
}
