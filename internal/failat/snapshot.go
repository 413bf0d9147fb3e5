package failat

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A snapshot is a state at one moment: the text of every value in it, by the Go expression that leads to the value. It
// shares nothing with the state, which may change afterwards.
type snapshot struct {
	text  map[string]string
	order []string // of the expressions
}

// A change is a value that differs in a later snapshot.
type change struct {
	place    string // the expression that leads to it
	from, to string
}

const (
	nothing = "(none)" // stands for a missing value
	empty   = "empty"  // a map or slice without elements, nil or not
)

func snap(state any) *snapshot {
	t := taker{s: &snapshot{text: map[string]string{}}, met: map[pointer]string{}}
	t.take("State", reflect.ValueOf(state))
	return t.s
}

func (s *snapshot) at(place string) string {
	if text, ok := s.text[place]; ok {
		return text
	}
	return nothing
}

// diff lists the differences in later, in the order of the state.
func (s *snapshot) diff(later *snapshot) []change {
	var changes []change
	for _, place := range s.order {
		if c := (change{place, s.at(place), later.at(place)}); c.from != c.to && !c.filled(later) {
			changes = append(changes, c)
		}
	}
	for _, place := range later.order {
		if c := (change{place, s.at(place), later.at(place)}); c.from == nothing && !c.emptied(s) {
			changes = append(changes, c)
		}
	}
	return changes
}

// filled reports whether the change only says that something empty has elements now. The elements say more.
func (c change) filled(later *snapshot) bool {
	return c.from == empty && c.to == nothing && later.within(c.place)
}

func (c change) emptied(former *snapshot) bool {
	return c.to == empty && c.from == nothing && former.within(c.place)
}

func (s *snapshot) within(place string) bool {
	return slices.ContainsFunc(s.order, func(p string) bool { return strings.HasPrefix(p, place+"[") })
}

// A taker walks through a state.
type taker struct {
	s   *snapshot
	met map[pointer]string // where each pointer was found first
}

type pointer struct {
	typ reflect.Type
	to  uintptr
}

func (t *taker) put(place, text string) {
	if _, ok := t.s.text[place]; !ok {
		t.s.order = append(t.s.order, place)
	}
	t.s.text[place] = text
}

func (t *taker) take(place string, v reflect.Value) {
	if !v.IsValid() || isNil(v) && v.Kind() != reflect.Map && v.Kind() != reflect.Slice {
		t.put(place, "nil")
		return
	}
	if text, ok := inWords(v); ok {
		t.put(place, text)
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		t.take(place, v.Elem())
	case reflect.Pointer:
		if !t.again(place, v) {
			t.take(place, v.Elem())
		}
	case reflect.Struct:
		t.takeFields(place, v)
	case reflect.Map:
		t.takeMap(place, v)
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			t.put(place, empty)
		}
		for i := range v.Len() {
			t.take(fmt.Sprintf("%s[%d]", place, i), v.Index(i))
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		t.put(place, v.Kind().String())
	default:
		t.put(place, fmt.Sprint(v))
	}
}

// again records the place that v points to, and returns a place that pointed there before. So a state that contains
// itself ends.
func (t *taker) again(place string, v reflect.Value) bool {
	p := pointer{v.Type(), v.Pointer()}
	first, ok := t.met[p]
	if ok {
		t.put(place, "the same as "+first)
	} else {
		t.met[p] = place
	}
	return ok
}

func (t *taker) takeFields(place string, v reflect.Value) {
	if v.NumField() == 0 {
		t.put(place, "{}")
	}
	for i := range v.NumField() {
		t.take(place+"."+v.Type().Field(i).Name, v.Field(i))
	}
}

func (t *taker) takeMap(place string, v reflect.Value) {
	if v.Len() == 0 {
		t.put(place, empty)
		return
	}
	if t.again(place, v) {
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		if a.CanInt() && b.CanInt() {
			return cmp.Compare(a.Int(), b.Int())
		}
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	for _, k := range keys {
		text := fmt.Sprint(k)
		if k.Kind() == reflect.String {
			text = strconv.Quote(k.String())
		}
		t.take(place+"["+text+"]", v.MapIndex(k))
	}
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return v.IsNil()
	default:
		return false
	}
}

// inWords returns the text of a value that is shown as a whole.
func inWords(v reflect.Value) (string, bool) {
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case time.Time:
			return x.Format(time.RFC3339Nano), true
		case error:
			return x.Error(), true
		case encoding.TextMarshaler:
			if text, err := x.MarshalText(); err == nil {
				return string(text), true
			}
		}
	}
	switch {
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String()), true
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 && v.Len() > 0:
		return strconv.Quote(string(v.Bytes())), true
	default:
		return "", false
	}
}
