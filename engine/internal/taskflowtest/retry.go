package taskflowtest

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/conformance"
)

// retry returns the atom of a retry's description: Ebb's own of that kind, with
// its calls noted.
func retry(r *conformance.TaskFlowRetry, world *World) *atom.Atom {
	opts := []atom.Option{atom.Priority(r.Priority)}
	if r.Provides != "" {
		opts = append(opts, atom.Provides(r.Provides))
	}
	if r.ValuesFrom != "" {
		opts = append(opts, atom.Rebind("values", r.ValuesFrom))
	}
	return atom.Retry(r.Name, &scriptedRetry{Controller: controller(r), is: r, world: world}, opts...)
}

func controller(r *conformance.TaskFlowRetry) atom.Controller {
	values := make([]atom.Value, len(r.Values))
	for i, value := range r.Values {
		values[i] = atom.FromJSON(value)
	}
	either := func(one, all *atom.Atom) atom.Controller {
		if r.RevertAll {
			return all.Controller()
		}
		return one.Controller()
	}
	switch r.Kind {
	case "always_revert":
		return atom.AlwaysRevert().Controller()
	case "always_revert_all":
		return atom.AlwaysRevertAll().Controller()
	case "times":
		return either(atom.Times(r.Attempts, atom.Backoff{}), atom.TimesThenAll(r.Attempts, atom.Backoff{}))
	case "for_each":
		return either(atom.ForEach(values...), atom.ForEachThenAll(values...))
	case "parameterized_for_each":
		return either(atom.ForEachOf(r.ValuesFrom), atom.ForEachOfThenAll(r.ValuesFrom))
	default:
		return decisions{r}
	}
}

// scriptedRetry notes the calls of a retry, and fails those that are scripted
// to fail.
type scriptedRetry struct {
	atom.Controller

	is    *conformance.TaskFlowRetry
	world *World
}

// Next notes the call.
func (s *scriptedRetry) Next(h atom.History, in atom.Values) (atom.Value, error) {
	n := s.world.note(conformance.TaskFlowCall{
		Kind: "retry_execute", Atom: s.is.Name, Args: arguments(in), History: ShowHistory(h),
	})
	if err := fault(s.is.Name, "#", n, s.is.FailOn, s.is.FailAlways); err != nil {
		return nil, err
	}
	return s.Controller.Next(h, in)
}

// OnFailure notes the call and its answer.
func (s *scriptedRetry) OnFailure(h atom.History, in atom.Values) (atom.Decision, error) {
	d, err := s.Controller.OnFailure(h, in)
	answer := d.Verdict.String()
	if err != nil {
		answer = "RAISE"
	}
	s.world.note(conformance.TaskFlowCall{Kind: "on_failure", Atom: s.is.Name, History: ShowHistory(h), Decision: answer})
	return d, err
}

// Undo notes the call.
func (s *scriptedRetry) Undo(_ context.Context, h atom.History, failures []*atom.Failure) error {
	n := s.world.note(conformance.TaskFlowCall{
		Kind: "retry_revert", Atom: s.is.Name, History: ShowHistory(h), FlowFailures: shown(failures),
	})
	return fault(s.is.Name, "!", n, s.is.RevertFailOn, s.is.RevertFailAlways)
}

// decisions is the controller of a retry whose answers are listed.
type decisions struct{ is *conformance.TaskFlowRetry }

// Next returns the number of the try under the retry's name.
func (d decisions) Next(h atom.History, _ atom.Values) (atom.Value, error) {
	return atom.Encode(fmt.Sprintf("%s@%d", d.is.Name, len(h.Tries)+1))
}

// OnFailure gives the answer that is listed for the try.
func (d decisions) OnFailure(h atom.History, _ atom.Values) (atom.Decision, error) {
	switch d.is.Decisions[min(len(h.Tries), len(d.is.Decisions))-1] {
	case "RETRY":
		return atom.Decision{Verdict: atom.VerdictRetry}, nil
	case "REVERT_ALL":
		return atom.Decision{Verdict: atom.VerdictRevertAll}, nil
	case "REVERT":
		return atom.Decision{Verdict: atom.VerdictRevert}, nil
	default:
		return atom.Decision{}, atom.Errorf("ErrDecide", "%s?%d", d.is.Name, len(h.Tries))
	}
}
