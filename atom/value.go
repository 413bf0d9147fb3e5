package atom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/gojson"
)

// MaxValue is the size in bytes above which Ebb refuses an encoded value.
//
//limit:values encoded input or result (`atom.MaxValue`) | {B} | the atom fails with `Ebb.ValueTooLarge`
const MaxValue = 1 << 20

// CodecJSON is the codec byte of JSON text, the one codec there is today.
const CodecJSON byte = 'j'

// ErrValueTooLarge is returned when an encoded value is larger than [MaxValue].
var ErrValueTooLarge = Errorf(CodeTooLarge, "atom: the encoded value is larger than %d bytes", MaxValue)

// A Value is an encoded value as it is stored and passed between atoms: one
// codec byte, then the encoded text. The nil Value means that there is no value, which
// differs from JSON's null. Values are immutable.
type Value []byte

// Null is the Value of JSON's null.
var Null = Value{CodecJSON, 'n', 'u', 'l', 'l'}

// Encode returns v as JSON. It does not escape HTML characters, so stored texts stay
// readable. It returns [ErrValueTooLarge], the error of the encoder, or an error if a string is not valid UTF-8.
func Encode(v any) (Value, error) {
	out, err := encode(v)
	if len(out) > MaxValue {
		return nil, ErrValueTooLarge
	}
	return out, err
}

func encode(v any) (Value, error) {
	switch v := v.(type) {
	case Value:
		return v, nil
	case nil, struct{}:
		return Null, nil
	}
	enc, _ := encoders.Get().(*encoder)
	defer enc.done()
	enc.text.WriteByte(CodecJSON)
	if err := enc.json.Encode(v); err != nil {
		return nil, fmt.Errorf("atom: encode %T: %w", v, err)
	}
	out := enc.text.Bytes()[:enc.text.Len()-1] // the encoder's newline
	if err := gojson.CheckText(v, out); err != nil {
		return nil, fmt.Errorf("atom: encode %T: %w", v, err)
	}
	return slices.Clone(Value(out)), nil
}

// An encoder is reused. A new one for each value would double the allocations of a
// small value.
type encoder struct {
	text bytes.Buffer
	json *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	enc := new(encoder)
	enc.json = json.NewEncoder(&enc.text)
	enc.json.SetEscapeHTML(false)
	return enc
}}

// maxKeptText is the largest buffer, in bytes, that an encoder keeps for reuse.
const maxKeptText = 64 << 10

func (enc *encoder) done() {
	if enc.text.Cap() <= maxKeptText {
		enc.text.Reset()
		encoders.Put(enc)
	}
}

// MustEncode is Encode for values that are known to encode, such as records of a program's own. It panics when they do
// not. It has no limit, since a record may contain values that Encode allows.
func MustEncode(v any) Value {
	out, err := encode(v)
	if err != nil {
		panic(err)
	}
	return out
}

// FromJSON returns the Value that holds the given JSON text, which is copied
// and not checked.
func FromJSON(text []byte) Value {
	out := make(Value, 0, len(text)+1)
	return append(append(out, CodecJSON), text...)
}

// JSON returns the JSON text of v, or nil when there is no value. The result
// shares memory with v and must not be changed.
func (v Value) JSON() json.RawMessage {
	if len(v) == 0 {
		return nil
	}
	return json.RawMessage(v[1:])
}

// Decode decodes v into the pointer into. A number that an interface, such as any, is to hold becomes a float64. If a
// float64 would change an integer, it becomes a json.Number. Decoding the nil Value changes nothing.
func (v Value) Decode(into any) error {
	if len(v) == 0 {
		return nil
	}
	if v[0] != CodecJSON {
		return fmt.Errorf("atom: decode: unknown codec byte %q (written by a newer Ebb?)", v[0])
	}
	return gojson.Unmarshal(v[1:], into)
}

// String returns the JSON text of v.
func (v Value) String() string { return string(v.JSON()) }

// MarshalJSON embeds the value itself in JSON, or null when there is none.
func (v Value) MarshalJSON() ([]byte, error) {
	if len(v) == 0 {
		return []byte("null"), nil
	}
	if v[0] != CodecJSON {
		return nil, errors.New("atom: value is not JSON")
	}
	return v[1:], nil
}

// UnmarshalJSON takes the JSON text as it is.
func (v *Value) UnmarshalJSON(text []byte) error {
	*v = FromJSON(text)
	return nil
}

// Field returns the member of a JSON object under key, and whether v is an
// object that has it. A member that occurs twice counts by its last occurrence,
// as in encoding/json. The text must be UTF-8, as all that is encoded here is.
func (v Value) Field(key string) (Value, bool) {
	var found []byte
	ok := false
	scanObject(v.JSON(), func(k, val []byte) {
		if keyIs(k, key) {
			found, ok = val, true
		}
	})
	if !ok {
		return nil, false
	}
	return FromJSON(found), true
}

// Fields returns the members of a JSON object, as decoding into a map does; the nil
// Value and null have none. A value that is not a JSON object is an error.
func (v Value) Fields() (map[string]Value, error) {
	fields := map[string]Value{}
	text := v.JSON()
	if start := skipSpace(text, 0); start == len(text) || text[start] != '{' || v[0] != CodecJSON || !json.Valid(text) {
		return fields, v.Decode(&fields) // which knows what is wrong
	}
	var err error
	scanObject(text, func(k, val []byte) {
		key := string(k[1 : len(k)-1])
		if strings.IndexByte(key, '\\') >= 0 || !utf8.ValidString(key) {
			err = errors.Join(err, json.Unmarshal(k, &key))
		}
		fields[key] = FromJSON(val)
	})
	return fields, err
}

// Index returns the element of a JSON array at i, and whether v is an array
// that has it.
func (v Value) Index(i int) (Value, bool) {
	var found []byte
	n := 0
	scanArray(v.JSON(), func(val []byte) {
		if n == i {
			found = val
		}
		n++
	})
	if found == nil {
		return nil, false
	}
	return FromJSON(found), true
}
