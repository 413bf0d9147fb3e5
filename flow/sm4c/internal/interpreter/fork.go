package interpreter

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// parallel runs children concurrently. When the winner is known, the others are cancelled (decisions 15 and 16),
// and the action does not wait for them.
func (w *interpreter) parallel(a *syntax.Action) step {
	group := &grow.Group{Count: len(a.Children)}
	if a.Completion != syntax.CompleteAll {
		group.Need, group.Abandon = a.Need, true
	}
	return w.fork(a, group, w.seen())
}

// foreach runs its action for each element of an array.
func (w *interpreter) foreach(a *syntax.Action) step {
	value, f := w.read(a.Expression)
	if f != nil {
		return w.settle(failed(f))
	}
	list, ok := value.([]any)
	switch {
	case !ok:
		return w.settle(failed(stateerror.New(stateerror.CodeType, "the input of a foreach must be an array")))
	case len(list) == 0:
		return w.settle(given(treeValue([]any{})))
	}
	return w.fork(a, &grow.Group{Count: len(list), Slots: a.Slots}, treeValue(list))
}

func (w *interpreter) fork(a *syntax.Action, group *grow.Group, input *jsonValue) step {
	text, f := input.text()
	if f != nil {
		return w.settle(failed(f))
	}
	shared := jsontext.NewWriter(atom.CodecJSON)
	shared.Int("a", int64(a.Number)+1)
	shared.Raw("i", text)
	group.Shared = atom.Value(shared.Bytes())
	fr := w.top()
	fr.node, fr.begun = w.node(a.Name, a.Repeats), w.ask.Now
	w.add(grow.Spec{Name: fr.node, Kind: grow.Fork, Group: group})
	return nil
}

// joined returns the results of the children that count, as an object or an array.
func (w *interpreter) joined(a *syntax.Action, results []atom.Value) step {
	var members [][]byte
	list := []byte{'['}
	for i, r := range results {
		switch {
		case a.Kind == syntax.ForeachAction:
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, r.JSON()...)
		case r != nil:
			members = append(members, member(a.Children[i].Key, r.JSON()))
		}
	}
	list = append(list, ']')
	text := list
	if a.Kind == syntax.ParallelAction {
		text = objectOf(members)
	}
	if len(text) >= atom.MaxValue {
		return w.settle(failed(stateerror.Expression("the results together are longer than %d bytes", atom.MaxValue)))
	}
	return w.settle(given(textValue(text)))
}

// inBranch determines the action of a branch, and its input.
func (w *interpreter) inBranch() error {
	var fork *syntax.Action
	r := jsontext.NewReader(w.ask.Shared.JSON())
	err := r.Members(func(name string) error {
		switch name {
		case "a":
			n, err := integer(r)
			if err != nil || n < 1 || n > len(w.machine.Actions) {
				return fmt.Errorf("there is no action %d: %w", n, err)
			}
			fork = w.machine.Actions[n-1]
		case "i":
			w.input = textValue(r.Skip())
		default:
			r.Skip()
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("sm4c: %s: broken branch: %w", w.machine.Name, err)
	case fork == nil || !fork.Forks() || fork.Kind == syntax.ParallelAction && w.ask.Index >= len(fork.Children):
		return fmt.Errorf("sm4c: %s: the definition has no branch %s", w.machine.Name, w.ask.Path)
	case fork.Kind == syntax.ParallelAction:
		w.branch = fork.Children[w.ask.Index]
		return nil
	}
	w.branch = fork.Children[0]
	if w.mem.input != nil {
		w.input = w.mem.input
		return nil
	}
	element, ok := atom.FromJSON(w.input.json).Index(w.ask.Index)
	if !ok {
		return fmt.Errorf("sm4c: %s: there is no element %d", w.machine.Name, w.ask.Index)
	}
	w.input = textValue(element.JSON())
	w.mem.input = w.input
	return nil
}

// branchEnded ends the flow of an action. If the flow ends at once and its end may cancel the others, the others
// start first: all branches start.
func (w *interpreter) branchEnded(r result) step {
	fork := w.branch.Parent
	if w.ask.Cause.Kind == grow.Begin && (r.fault != nil || fork.Kind == syntax.ParallelAction &&
		fork.Completion != syntax.CompleteAll) {
		m := w.mem
		m.result = r.value
		if r.fault != nil {
			m.fault = atom.MustEncode(r.fault.Failure()).JSON()
		} else if _, f := r.value.text(); f != nil {
			m.result, m.fault = nil, atom.MustEncode(f.Failure()).JSON()
		}
		w.growth.More = atom.Null
		return nil
	}
	w.endWith(r)
	return nil
}

// endBranch ends a branch whose end was postponed.
func (w *interpreter) endBranch() step {
	m := w.mem
	if m.fault == nil {
		w.endWith(given(m.result))
		return nil
	}
	failure := &atom.Failure{}
	if err := atom.FromJSON(m.fault).Decode(failure); err != nil {
		failure = stateerror.Expression("%v", err).Failure()
	}
	w.end(&grow.End{Failure: failure})
	return nil
}

func (w *interpreter) endWith(r result) {
	var value atom.Value
	if r.fault == nil {
		value, r.fault = r.value.encoded()
	}
	if r.fault != nil {
		w.end(&grow.End{Failure: r.fault.Failure()})
		return
	}
	w.end(&grow.End{Value: value})
}
