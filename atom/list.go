package atom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/ebbflow/ebb/internal/gojson"
	"github.com/ebbflow/ebb/internal/notcalled"
)

// A List is the value of a symbol that may be too large for memory, such as the results of flow.Each for very many
// items. A task that requires such a symbol as a List reads the elements one by one; as a []T it gets them at once. The
// zero List is empty.
type List[T any] struct {
	elements []T
	stored   *StoredList // nil if the elements are at hand
}

// ListOf returns a List of elements, for tests of tasks.
func ListOf[T any](elements ...T) List[T] { return List[T]{elements: elements} }

// Len returns how many elements the list has.
func (l List[T]) Len() int {
	if l.stored != nil {
		return l.stored.Len
	}
	return len(l.elements)
}

// All yields the elements in order. It reads a stored list a page at a time, through the call that ctx belongs to. If
// reading fails, All yields the error and ends.
func (l List[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range l.elements {
			if !yield(v, nil) {
				return
			}
		}
		if l.stored == nil {
			return
		}
		for v, err := range l.stored.all(ctx) {
			var element T
			if err == nil {
				err = v.Decode(&element)
			}
			if !yield(element, err) || err != nil {
				return
			}
		}
	}
}

// MarshalJSON encodes the elements, or where they are stored.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l.stored != nil {
		return l.stored.Value().JSON(), nil
	}
	if l.elements == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(l.elements)
}

// UnmarshalJSON decodes an array, or where the elements are stored.
func (l *List[T]) UnmarshalJSON(text []byte) error {
	if s, ok := StoredListOf(FromJSON(text)); ok {
		*l = List[T]{stored: s}
		return nil
	}
	*l = List[T]{}
	return gojson.Unmarshal(text, &l.elements)
}

// readsLists marks the type of an argument that needs no elements at hand.
func (List[T]) readsLists() {}

// A StoredList locates the elements of a list that is not stored as one value. They are the results of the nodes 0, 1
// and so on of a growing run. A node without a result is passed over. Languages and stores use it; tasks use [List].
type StoredList struct {
	Run   string `json:"run"`   // id of the run
	Nodes int    `json:"nodes"` // how many nodes it has
	Len   int    `json:"len"`   // how many of them have a result
}

// listMember is the only member of the object that stands for a stored list.
const listMember = "ebb.list"

var listStart = []byte(`j{"` + listMember + `":`)

// Value returns the value that stands for the list.
func (s *StoredList) Value() Value { return MustEncode(map[string]*StoredList{listMember: s}) }

// StoredListOf returns which stored list a value stands for; false if it stands for none.
func StoredListOf(v Value) (*StoredList, bool) {
	if !bytes.HasPrefix(v, listStart) {
		return nil, false
	}
	var object map[string]*StoredList
	if v.Decode(&object) != nil || len(object) != 1 || object[listMember] == nil {
		return nil, false
	}
	return object[listMember], true
}

// ListPage is how many nodes of a stored list are read at once, at most: each may hold a large value.
const ListPage = 64

var errNoLists = errors.New("atom: the elements of this list are in a store, and the context is not that of a call")

func (s *StoredList) all(ctx context.Context) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		host := hostOf(ctx)
		if host == nil {
			yield(nil, errNoLists)
			return
		}
		for from := 0; from < s.Nodes; from += ListPage {
			page, err := host.Elements(ctx, s, from, ListPage)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
		}
	}
}

// Page returns the results of up to n nodes of the list, beginning with the node at index from. It reads them through
// the call that ctx belongs to.
func (s *StoredList) Page(ctx context.Context, from, n int) ([]Value, error) {
	host := hostOf(ctx)
	if host == nil {
		return nil, errNoLists
	}
	return host.Elements(ctx, s, from, n)
}

// MaxExpanded is how many bytes a stored list may have in memory, where a task takes it as a slice.
const MaxExpanded = 64 << 20

// Expand replaces stored lists by arrays of their elements, unless the argument is a [List]. Engines call it before
// they call a task. An array may be larger than [MaxValue], as it is not stored, up to [MaxExpanded].
func Expand(ctx context.Context, in Values) (Values, error) {
	for i, v := range in.vals {
		s, ok := StoredListOf(v)
		if !ok || readsLists(in.args[i].Type) {
			continue
		}
		array := Value{CodecJSON, '['}
		for element, err := range s.all(ctx) {
			switch {
			case err != nil:
				return in, notcalled.Error(err)
			case len(array)+len(element) > MaxExpanded:
				return in, notcalled.Error(Errorf(CodeTooLarge,
					"the list %q has %d elements, which are more than %d bytes; take it as an atom.List", in.args[i].Symbol, s.Len,
					MaxExpanded))
			case len(array) > len("j["):
				array = append(array, ',')
			}
			array = append(array, element.JSON()...)
		}
		vals := append([]Value(nil), in.vals...)
		vals[i] = append(array, ']')
		in = Values{in.args, vals}
	}
	return in, nil
}

func readsLists(t reflect.Type) bool {
	return t != nil && t.Implements(reflect.TypeFor[interface{ readsLists() }]())
}

// String describes the list.
func (l List[T]) String() string { return fmt.Sprintf("list of %d", l.Len()) }
