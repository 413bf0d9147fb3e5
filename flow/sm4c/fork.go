package sm4c

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// parallel runs children side by side. Those that lose are cancelled (decisions
// 15 and 16), and not waited for when the winner is known.
func (w *interpreter) parallel(a *action) step {
	group := &flow.Group{Count: len(a.children)}
	if a.completion != completeAll {
		group.Need, group.Abandon = a.need, true
	}
	return w.fork(a, group, w.seen())
}

// foreach runs its action for each element of an array.
func (w *interpreter) foreach(a *action) step {
	value, f := w.read(a.expression)
	if f != nil {
		return w.settle(failed(f))
	}
	list, ok := value.([]any)
	switch {
	case !ok:
		return w.settle(failed(newError(CodeType, "the input of a foreach must be an array")))
	case len(list) == 0:
		return w.settle(given(treeValue([]any{})))
	}
	return w.fork(a, &flow.Group{Count: len(list), Slots: a.slots}, treeValue(list))
}

func (w *interpreter) fork(a *action, group *flow.Group, input *jsonValue) step {
	text, f := input.text()
	if f != nil {
		return w.settle(failed(f))
	}
	shared := jsontext.NewWriter(atom.CodecJSON)
	shared.Int("a", int64(a.number)+1)
	shared.Raw("i", text)
	group.Shared = atom.Value(shared.Bytes())
	fr := w.top()
	fr.node, fr.begun = w.node(a.name, a.repeats), w.ask.Now
	w.add(flow.Spec{Name: fr.node, Kind: flow.Fork, Group: group})
	return nil
}

// joined returns what the children gave: an object of those that count, or an
// array.
func (w *interpreter) joined(a *action, results []atom.Value) step {
	var members [][]byte
	list := []byte{'['}
	for i, r := range results {
		switch {
		case a.kind == foreachAction:
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, r.JSON()...)
		case r != nil:
			members = append(members, member(a.children[i].key, r.JSON()))
		}
	}
	list = append(list, ']')
	text := list
	if a.kind == parallelAction {
		text = objectOf(members)
	}
	if len(text) >= atom.MaxValue {
		return w.settle(failed(expressionError("the results together are longer than %d bytes", atom.MaxValue)))
	}
	return w.settle(given(textValue(text)))
}

// inBranch finds out what a branch runs, and on what.
func (w *interpreter) inBranch() error {
	var fork *action
	r := jsontext.NewReader(w.ask.Shared.JSON())
	err := r.Members(func(name string) error {
		switch name {
		case "a":
			n, err := integer(r)
			if err != nil || n < 1 || n > len(w.machine.actions) {
				return fmt.Errorf("there is no action %d: %w", n, err)
			}
			fork = w.machine.actions[n-1]
		case "i":
			w.input = textValue(r.Skip())
		default:
			r.Skip()
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("sm4c: %s: broken branch: %w", w.machine.name, err)
	case fork == nil || !fork.forks() || fork.kind == parallelAction && w.ask.Index >= len(fork.children):
		return fmt.Errorf("sm4c: %s: the definition has no branch %s", w.machine.name, w.ask.Path)
	case fork.kind == parallelAction:
		w.branch = fork.children[w.ask.Index]
		return nil
	}
	w.branch = fork.children[0]
	if w.mem.input != nil {
		w.input = w.mem.input
		return nil
	}
	element, ok := atom.FromJSON(w.input.json).Index(w.ask.Index)
	if !ok {
		return fmt.Errorf("sm4c: %s: there is no element %d", w.machine.name, w.ask.Index)
	}
	w.input = textValue(element.JSON())
	w.mem.input = w.input
	return nil
}

// branchEnded ends the flow that an action runs in. One that ends at once lets
// the others begin first, if its end may end them: all branches start.
func (w *interpreter) branchEnded(r result) step {
	fork := w.branch.parent
	if w.ask.Cause.Kind == flow.Begin && (r.fault != nil || fork.kind == parallelAction && fork.completion != completeAll) {
		m := w.mem
		m.result = r.value
		if r.fault != nil {
			m.fault = atom.MustEncode(r.fault.failure()).JSON()
		} else if _, f := r.value.text(); f != nil {
			m.result, m.fault = nil, atom.MustEncode(f.failure()).JSON()
		}
		w.growth.More = atom.Null
		return nil
	}
	w.endWith(r)
	return nil
}

// endBranch ends a branch whose end was put off.
func (w *interpreter) endBranch() step {
	m := w.mem
	if m.fault == nil {
		w.endWith(given(m.result))
		return nil
	}
	failure := &atom.Failure{}
	if err := atom.FromJSON(m.fault).Decode(failure); err != nil {
		failure = expressionError("%v", err).failure()
	}
	w.end(&flow.End{Failure: failure})
	return nil
}

func (w *interpreter) endWith(r result) {
	var value atom.Value
	if r.fault == nil {
		value, r.fault = r.value.encoded()
	}
	if r.fault != nil {
		w.end(&flow.End{Failure: r.fault.failure()})
		return
	}
	w.end(&flow.End{Value: value})
}
