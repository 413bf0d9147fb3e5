package flow

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/notcalled"
)

// given says what an item's body receives: the item alone, or an object. The object has the item's members, the item
// under its symbol, and symbols from around the node.
type given struct{ whole, members, item, around bool }

// beginItem adds the node of an item.
func (w *working) beginItem(item []byte) {
	spec := grow.Spec{Name: strconv.Itoa(w.Begun), Input: w.input(item)}
	w.undoOf(&spec)
	if len(spec.Input) > atom.MaxValue {
		w.growth = failedWith(atom.CodeTooLarge,
			fmt.Sprintf("item %d of node %q, with what its body requires from around the node, "+
				"has more than %d bytes", w.Begun, w.name, atom.MaxValue))
		return
	}
	w.Begun++
	w.Open++
	if w.child != nil {
		spec.Kind = grow.Nested
		spec.Child = &grow.Child{Flow: w.child.Flow, Structure: w.child.Hash}
		w.growth.Add = append(w.growth.Add, spec)
		return
	}
	a := w.task.Atom
	spec.Kind, spec.Task, spec.Timeout = grow.Work, itemTask, a.Timeout()
	spec.ToStart, spec.ToClose = a.ScheduleToStart(), a.StartToClose()
	if d := a.Deferral(); d != nil {
		spec.Token, spec.Ends, spec.Heartbeat = w.token(), true, d.Heartbeat
		if d.Deadline > 0 {
			spec.Timeout = d.Deadline
		}
	}
	w.growth.Add = append(w.growth.Add, spec)
}

// input returns what the body is given for an item. Of two members of one name, the last one counts: that of the item.
func (w *working) input(item []byte) atom.Value {
	if w.given.whole && !w.given.around && !w.given.item && !w.given.members {
		return atom.FromJSON(item)
	}
	around := w.ask.Run.Input.JSON()[1:max(w.Around, 1)]
	out := make(atom.Value, 0, len(around)+2*len(item)+len(ItemSymbol)+8) //nolint:mnd // punctuation
	out = append(out, atom.CodecJSON, '{')
	member := func(text []byte) {
		if len(text) > 0 && len(out) > len("j{") {
			out = append(out, ',')
		}
		out = append(out, text...)
	}
	member(around)
	if w.given.item || w.given.whole {
		member([]byte(`"` + ItemSymbol + `":`))
		out = append(out, item...)
	}
	if w.given.members && item[0] == '{' {
		member(bytes.TrimSpace(item[1 : len(item)-1]))
	}
	return append(out, '}')
}

// itemBody is an atom as the body of an item: it takes its arguments from the members of the input.
type itemBody struct{ *atom.Atom }

// Execute implements [atom.Body].
func (b itemBody) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	values, err := b.bind(b.Args(), in.Input())
	if err != nil {
		return nil, err
	}
	return b.Body().Execute(ctx, values)
}

// Revert implements [atom.Body].
func (b itemBody) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	values, err := b.bind(b.RevertArgs(), in.Input())
	if err != nil {
		return nil, err
	}
	return b.Body().Revert(ctx, values, did)
}

// Queue implements [atom.Queued].
func (b itemBody) Queue(c *atom.Call) string {
	if q, ok := b.Body().(atom.Queued); ok {
		return q.Queue(c)
	}
	return ""
}

// CheckArguments returns why the body cannot read its arguments.
func (b itemBody) CheckArguments(in atom.Values) error {
	values, err := b.bind(b.Args(), in.Input())
	if t, ok := b.Body().(interface{ CheckArguments(in atom.Values) error }); ok && err == nil {
		err = t.CheckArguments(values)
	}
	return err
}

func (b itemBody) bind(args []atom.Arg, input atom.Value) (atom.Values, error) {
	if len(args) == 0 {
		return atom.Values{}, nil
	}
	if len(args) == 1 && args[0].Symbol == "" {
		return atom.NewValues(args, []atom.Value{input}), nil
	}
	vals := make([]atom.Value, len(args))
	for i, arg := range args {
		v, ok := b.Injected(arg.Symbol)
		if !ok {
			symbol := arg.Symbol
			if symbol == "" {
				symbol = ItemSymbol
			}
			v, ok = input.Field(symbol)
		}
		if !ok && !arg.Optional {
			return atom.Values{}, notcalled.Error(atom.Errorf(atom.CodeNotFound,
				"required symbol %q has no value: it is no member of the item", arg.Symbol))
		}
		vals[i] = v
	}
	return atom.NewValues(args, vals), nil
}

// itemQuery asks for a page of a list that is stored elsewhere.
type itemQuery struct {
	List *atom.StoredList `json:"list"`
	From int              `json:"from"`
}

// itemsReader is the body that reads a page.
var itemsReader = atom.Func(readTask, readItems).Body()

func readItems(ctx context.Context, q itemQuery) ([]atom.Value, error) {
	return q.List.Page(ctx, q.From, atom.ListPage)
}
