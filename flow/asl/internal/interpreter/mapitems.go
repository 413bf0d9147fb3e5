package interpreter

import (
	"fmt"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// takenItem is an item that a map run is taking.
type takenItem struct {
	index  int64
	value  *data.Value
	key    *string // nil when it has none
	source string
}

// context returns the part of the context object that describes the item.
func (t *takenItem) context(leaf func(*data.Value) any) *jsontext.OrderedMap {
	item := jsontext.OrderedMapOf("Index", data.Number(t.index), "Value", leaf(t.value), "Source", t.source)
	if t.key != nil {
		item.Set("Key", *t.key)
	}
	return jsontext.OrderedMapOf("Item", item)
}

// input returns what the execution of the item gets without an ItemSelector: of the members of an object, both the name
// and the value.
func (t *takenItem) input() *data.Value {
	if t.key == nil {
		return t.value
	}
	return data.Text(append(append(append(append([]byte{atom.CodecJSON},
		`{"Key":`...), atom.MustEncode(*t.key).JSON()...), `,"Value":`...), append(t.value.Encoded().JSON(), '}')...))
}

// StateData is the source of items that are in the state's input.
const StateData = "STATE_DATA"

// childrenPerAnswer is how many children one answer starts.
const childrenPerAnswer = 500

// batches starts children with the items of a page, one item each or in batches. The position of the map run stays
// after the last item that it used, so that unused items are read again.
func (r *mapRun) batches(page *ItemPage) *stateerror.Error {
	begun, spent := 0, 0
	for len(page.Items) > 0 && !r.enough() && !r.Ask.Done() {
		if r.Open >= r.set.Slots || begun == childrenPerAnswer || spent >= jsonata.MaxSteps {
			return nil
		}
		input, n, f := r.batch(page, begun == 0)
		spent += jsonata.MaxSteps - r.Steps
		if f != nil {
			return f
		}
		if n == 0 {
			return nil // the rest is less than a batch
		}
		r.beginRun(input, n)
		begun++
		r.From = page.Items[n-1].Next
		page.Items = page.Items[n:]
	}
	r.All = page.End && len(page.Items) == 0 || r.enough()
	return nil
}

// enough reports whether the maximum number of items was taken.
func (r *mapRun) enough() bool { return r.set.MaxItems > 0 && r.Items >= r.set.MaxItems }

// batch returns the input of the next child, and how many items of the page it contains. If items after the page may
// belong to the input, it returns none. The first batch of a page is always as large as possible.
func (r *mapRun) batch(page *ItemPage, first bool) (*data.Value, int, *stateerror.Error) {
	r.Steps = jsonata.MaxSteps
	if !r.set.Batches {
		input, f := r.selected(&page.Items[0], 0)
		return input, 1, f
	}
	input, n, full, f := r.set.fill(len(page.Items), r.Items, func(i int) (*data.Value, *stateerror.Error) {
		return r.selected(&page.Items[i], i)
	})
	if f != nil || !full && !page.End && !first {
		return nil, 0, f
	}
	return input, n, nil
}

// fill puts the next of count items into a batch, after those that were taken. It returns the batch, how many items
// are in it, and whether no more fit.
func (m *mapSettings) fill(count int, taken int64, item func(i int) (*data.Value, *stateerror.Error)) (
	input *data.Value, n int, full bool, f *stateerror.Error,
) {
	text := []byte{atom.CodecJSON, '{'}
	if m.BatchInput != nil {
		text = append(append(append(text, `"BatchInput":`...), m.BatchInput...), ',')
	}
	text = append(text, `"Items":[`...)
	most := int64(data.MaxPayload)
	if m.BatchBytes > 0 {
		most = min(most, m.BatchBytes)
	}
	for ; n < count && !full; n++ {
		item, f := item(n)
		if f != nil {
			return nil, 0, false, f
		}
		if n > 0 && int64(len(text)+len(item.Encoded())+len("]}"))-1 > most {
			full = true
			break
		}
		if n > 0 {
			text = append(text, ',')
		}
		text = append(text, item.Encoded().JSON()...)
		full = int64(n+1) == m.PerBatch || m.MaxItems > 0 && int64(n+1) == m.MaxItems-taken
	}
	return data.Text(append(text, "]}"...)), n, full, nil
}

// selected returns the input for an item. ahead is the number of items before it that were not counted as taken yet.
func (r *mapRun) selected(item *Item, ahead int) (*data.Value, *stateerror.Error) {
	taking := &takenItem{
		index: r.Items + int64(ahead), value: data.Text(atom.FromJSON(item.Value)), key: item.Key, source: item.Source,
	}
	if selector := r.State.Items.Selector; selector != nil {
		r.taking, r.ctx, r.ctxQuery = taking, nil, nil
		return r.computed(selector, r.View(r.Group.input))
	}
	input := taking.input()
	if input.TooLarge() {
		return nil, stateerror.TooLarge(r.State.Name)
	}
	return input, nil
}

// pageOfInput returns the next items of the state's input, as many as the free slots can take. They are elements of an
// array, or members of an object.
func (r *mapRun) pageOfInput() *ItemPage {
	list, keys := r.Group.entries()
	from := min(r.Items, int64(len(list)))
	to := min(from+r.wanted(), int64(len(list)))
	page := &ItemPage{Items: make([]Item, 0, to-from), End: to == int64(len(list))}
	for i := from; i < to; i++ {
		item := Item{Value: list[i], Source: StateData, Next: strconv.FormatInt(i+1, 10)}
		if keys != nil {
			item.Key = &keys[i]
		}
		page.Items = append(page.Items, item)
	}
	return page
}

// wanted returns the maximum number of items that the children of one answer can take. A batch reads one item more than
// its bytes allow, because that item shows that it is full.
func (r *mapRun) wanted() int64 {
	children, each := int64(min(r.set.Slots-r.Open, childrenPerAnswer)), int64(1)
	switch {
	case !r.set.Batches:
	case r.set.PerBatch > 0:
		each = min(r.set.PerBatch, maxPageItems)
	default:
		each = maxPageItems
	}
	if r.set.Batches && r.set.BatchBytes > 0 {
		each = min(each, r.set.BatchBytes/int64(len("0,"))+1)
	}
	return min(children*each, maxPageItems)
}

// items returns the items of a Map state, which may not be an array.
func (w *surroundings) items(v *expression.View) (*data.Value, *stateerror.Error) {
	m := w.State.Items
	switch {
	case w.Read != nil:
		return w.Read, nil
	case m.Path != nil:
		value, missing, f := v.Find(m.Path)
		if f == nil && missing != nil { // AWS has an error name and a message of its own for this
			f = &stateerror.Error{Name: stateerror.ReferencePath, Local: true}
			f.Cause = fmt.Sprintf("Unable to apply step \"%s\" to input %s", missing.Step, v.Input.Encoded())
		}
		return data.Tree(value), f
	case m.Items != nil:
		return w.computed(m.Items, v)
	}
	return v.Input, nil
}

// noArray returns the error for Items that are not an array.
func (w *surroundings) noArray(found *data.Value) *stateerror.Error {
	m := w.State.Items
	switch {
	case m.Items != nil:
		return expression.Unexpected(&m.Items.At, jsonata.Array, found)
	case w.State.Language == syntax.JSONata:
		return stateerror.Localf(stateerror.QueryEvaluation, "Map state input must be an array but was: %s",
			expression.Shown(found))
	case m.Path != nil:
		return stateerror.Runtimef("Reference path \"%s\" must point to array.", expression.UnderRoot(m.Path))
	}
	return stateerror.Runtimef("Reference path \"$\" must point to array.")
}

// Item returns the input of an iteration.
func (w *surroundings) Item() (*data.Value, *stateerror.Error) {
	item, ok := w.Group.element(w.Ask.Index)
	if !ok {
		return nil, stateerror.Runtimef("there is no item %d", w.Ask.Index)
	}
	selector := w.State.Items.Selector
	if selector == nil {
		return data.Text(item), nil
	}
	w.Input = w.Group.input
	return w.computed(selector, w.View(w.Input))
}
