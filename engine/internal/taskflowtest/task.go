package taskflowtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/conformance"
)

// task returns the atom of a task's description.
func task(n *conformance.TaskFlowNode, world *World) *atom.Atom {
	s := &scriptedTask{n, world}
	opts := []atom.Option{atom.Priority(n.Priority), atom.Requires(n.Requires...)}
	for _, arg := range slices.Sorted(maps.Keys(n.Rebind)) {
		opts = append(opts, atom.Rebind(arg, n.Rebind[arg]))
	}
	opts = append(opts, atom.Optional(n.Optional...), atom.RevertRequires(n.RevertRequires...))
	for _, arg := range slices.Sorted(maps.Keys(n.RevertRebind)) {
		opts = append(opts, atom.RevertRebind(arg, n.RevertRebind[arg]))
	}
	for _, symbol := range slices.Sorted(maps.Keys(n.Inject)) {
		opts = append(opts, atom.Inject(symbol, n.Inject[symbol]))
	}
	switch symbols, form := provided(n.Provides); form {
	case atom.ByKey:
		opts = append(opts, atom.ProvidesFields(symbols...))
	case atom.ByIndex:
		opts = append(opts, atom.ProvidesElements(symbols...))
	case atom.Whole:
		if len(symbols) > 0 {
			opts = append(opts, atom.Provides(symbols...))
		}
	}
	return atom.Untyped(n.Name, s.execute, s.revert, opts...)
}

// provided returns the symbols of a description's provides, and which parts of
// the result they are.
func provided(text json.RawMessage) ([]string, atom.Part) {
	var whole string
	var elements []string
	var fields struct {
		Keys []string `json:"keys"`
	}
	switch {
	case json.Unmarshal(text, &whole) == nil && whole != "":
		return []string{whole}, atom.Whole
	case json.Unmarshal(text, &elements) == nil && elements != nil:
		return elements, atom.ByIndex
	case json.Unmarshal(text, &fields) == nil && fields.Keys != nil:
		return fields.Keys, atom.ByKey
	}
	return nil, atom.Whole
}

// A scriptedTask follows its description.
type scriptedTask struct {
	is    *conformance.TaskFlowNode
	world *World
}

func (s *scriptedTask) execute(_ context.Context, in atom.Values) (any, error) {
	n := s.world.make(conformance.TaskFlowCall{Kind: "execute", Atom: s.is.Name, Args: arguments(in)})
	if err := fault(s.is.Name, "#", n, s.is.FailOn, s.is.FailAlways); err != nil {
		return nil, err
	}
	if s.is.Result != nil {
		return s.is.Result, nil
	}
	value := func(symbol string) string { return fmt.Sprintf("%s.%s@%d", s.is.Name, symbol, n) }
	switch symbols, form := provided(s.is.Provides); {
	case form == atom.ByKey:
		out := map[string]string{}
		for _, symbol := range symbols {
			out[symbol] = value(symbol)
		}
		return out, nil
	case form == atom.ByIndex:
		out := make([]string, len(symbols))
		for i, symbol := range symbols {
			out[i] = value(symbol)
		}
		return out, nil
	case len(symbols) > 0:
		return fmt.Sprintf("%s@%d", s.is.Name, n), nil
	}
	return nil, nil //nolint:nilnil // the result of what provides nothing is null
}

func (s *scriptedTask) revert(_ context.Context, in atom.Values, did atom.Outcome[atom.Value]) (any, error) {
	result, _ := did.Done()
	if f, failed := did.Failed(); failed {
		result = atom.MustEncode(map[string]string{"$failure": Show(f)})
	}
	if result == nil {
		result = atom.Null
	}
	n := s.world.make(conformance.TaskFlowCall{
		Kind: "revert", Atom: s.is.Name, Args: arguments(in), Result: result.JSON(), FlowFailures: shown(did.Failures()),
	})
	if err := fault(s.is.Name, "!", n, s.is.RevertFailOn, s.is.RevertFailAlways); err != nil {
		return nil, err
	}
	if s.is.RevertResult != nil {
		return s.is.RevertResult, nil
	}
	return nil, nil //nolint:nilnil // most reverts have no result
}

// fault returns the error that the nth call of an atom is scripted to fail with.
func fault(name, sign string, n int, on map[string]string, always string) error {
	if code := cmp.Or(on[strconv.Itoa(n)], always); code != "" {
		return atom.Errorf(code, "%s%s%d", name, sign, n)
	}
	return nil
}
