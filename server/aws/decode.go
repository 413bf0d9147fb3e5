package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// maxElements is how many elements of a list are kept. Each may cost more memory than the client has to send for it.
//
//limit:protocol elements of a list | {} | `ValidationException`
const maxElements = 1000

// A binding decodes values of a shape into a Go type.
type binding struct {
	shape   *Shape
	members map[string]int // of a structure: their indices
	fields  [][]int        // of a structure: where the struct has each member, for reflect
	inner   []*binding     // of a structure: those of the members; of a list: that of the elements
}

// bind returns the binding of a shape to a type, or panics if they do not fit.
func bind[In any](shape *Shape) *binding { return bindType(shape, reflect.TypeFor[In]()) }

// goKinds are the kinds of Go values that a shape is decoded into. A text may also be a named type.
var goKinds = map[kind][]reflect.Kind{
	structureKind: {reflect.Struct}, listKind: {reflect.Slice}, stringKind: {reflect.String},
	integerKind: {reflect.Int, reflect.Int32, reflect.Int64}, longKind: {reflect.Int64},
	floatKind: {reflect.Float64}, booleanKind: {reflect.Bool}, timeKind: {reflect.Struct},
	jsonKind: {reflect.Slice},
}

func bindType(shape *Shape, t reflect.Type) *binding {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	fits := false
	for _, k := range goKinds[shape.kind] {
		fits = fits || k == t.Kind()
	}
	if !fits || shape.kind == timeKind && t != reflect.TypeFor[Time]() ||
		shape.kind == jsonKind && t != reflect.TypeFor[json.RawMessage]() {
		panic("aws: values of a shape cannot be decoded into " + t.String())
	}
	b := &binding{shape: shape}
	switch shape.kind {
	case structureKind:
		b.bindMembers(t)
	case listKind:
		b.inner = []*binding{bindType(shape.element, t.Elem())}
	case stringKind, integerKind, longKind, floatKind, booleanKind, timeKind, jsonKind:
	}
	return b
}

// bindMembers finds the field of each member.
func (b *binding) bindMembers(t reflect.Type) {
	fields := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields[name] = f
		}
	}
	b.members = make(map[string]int, len(b.shape.members))
	for i, m := range b.shape.members {
		f, ok := fields[m.name]
		if !ok {
			panic("aws: " + t.String() + " has no field for " + m.name)
		}
		delete(fields, m.name)
		b.members[m.name] = i
		b.fields = append(b.fields, f.Index)
		b.inner = append(b.inner, bindType(m.shape, f.Type))
	}
	for name := range fields {
		panic("aws: " + t.String() + " has a field for " + name + ", which the shape does not have")
	}
}

// decode decodes a body into a struct of the binding's type. Errors are *[Error].
func (b *binding) decode(body []byte, in any) error {
	if !utf8.Valid(body) || !json.Valid(body) {
		return &Error{Code: codeSerialization}
	}
	body = jsontext.NewReader(body).Skip()
	if first := body[0]; first != '{' && first != '[' {
		return &Error{Code: codeSerialization}
	}
	var d decoder
	if err := d.value(b, body, reflect.ValueOf(in).Elem(), nil); err != nil {
		return err
	}
	return d.found.err()
}

// A decoder decodes one body, which is JSON.
type decoder struct{ found violations }

// value decodes a value, which is not null, and checks it.
func (d *decoder) value(b *binding, text []byte, into reflect.Value, at *place) error {
	if !fits(b.shape.kind, text[0]) {
		return unexpected(b.shape.kind, text[0])
	}
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch b.shape.kind {
	case structureKind:
		return d.structure(b, text, into, at)
	case listKind:
		return d.list(b, text, into, at)
	case stringKind:
		plain, err := jsontext.NewReader(text).String()
		if err != nil {
			return &Error{Code: codeSerialization}
		}
		into.SetString(plain)
	case booleanKind:
		into.SetBool(text[0] == 't')
	case jsonKind:
		into.SetBytes(bytes.Clone(text))
	case integerKind, longKind, floatKind, timeKind:
		setNumber(b.shape.kind, into, string(text))
	}
	d.found.check(b.shape, into, at)
	return nil
}

// structure decodes an object. Of members with the same name, the last counts.
func (d *decoder) structure(b *binding, text []byte, into reflect.Value, at *place) error {
	values := make([][]byte, len(b.shape.members))
	r := jsontext.NewReader(text)
	err := r.Members(func(name string) error {
		if i, known := b.members[name]; known {
			values[i] = r.Skip()
		} else {
			r.Skip()
		}
		return nil
	})
	if err != nil {
		return &Error{Code: codeSerialization}
	}
	for i, m := range b.shape.members {
		here := &place{up: at, name: m.name}
		if !isNull(values[i]) {
			if err := d.value(b.inner[i], values[i], into.FieldByIndex(b.fields[i]), here); err != nil {
				return err
			}
		} else if m.required {
			d.found.addNull(m.shape, here)
		}
	}
	return nil
}

// isNull reports whether a member is missing, or null.
func isNull(text []byte) bool { return len(text) == 0 || text[0] == 'n' }

// list decodes an array.
func (d *decoder) list(b *binding, text []byte, into reflect.Value, at *place) error {
	n, broken, element := 0, false, b.inner[0]
	spare := reflect.New(into.Type().Elem()).Elem()
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	r := jsontext.NewReader(text)
	err := r.Elements(func() error {
		value := r.Skip()
		if isNull(value) {
			return nil
		}
		if n++; n > maxElements {
			return nil
		}
		outer := d.found
		spare.SetZero()
		if err := d.value(element, value, spare, &place{up: at, index: n}); err != nil {
			return err
		}
		if element.shape.isScalar() { // all of them have one error, below
			broken = broken || d.found.count > outer.count
			d.found = outer
		}
		into.Set(reflect.Append(into, spare))
		return nil
	})
	if err != nil {
		return err
	}
	d.found.checkList(b.shape, into, n, broken, at)
	return nil
}

// setNumber sets a number to a literal of JSON. Like AWS, it cuts off decimals. A number that is too large becomes the
// largest, which then is out of range.
func setNumber(k kind, into reflect.Value, literal string) {
	f, _ := strconv.ParseFloat(literal, 64) // of a number out of range it is the infinity
	switch k {
	case floatKind:
		into.SetFloat(f)
	case timeKind:
		f = min(max(f, 0), maxSeconds)
		into.Set(reflect.ValueOf(Time{time.UnixMilli(int64(math.Round(f * msPerSecond)))}))
	case integerKind:
		into.SetInt(int64(min(max(f, math.MinInt32), math.MaxInt32)))
	default:
		into.SetInt(long(literal, f))
	}
}

// long returns the whole number of a literal whose value is about f.
func long(literal string, f float64) int64 {
	n, err := strconv.ParseInt(literal, 10, 64) // out of range, it is the closest
	switch {
	case !errors.Is(err, strconv.ErrSyntax):
		return n
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	default: // it has decimals or an exponent
		return int64(f)
	}
}
