package jq

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// Decode reads a value from JSON text. Numbers keep their digits until something is computed with them.
func Decode(text []byte) (any, error) {
	var broken error
	v, err := jsontext.Decode(text, MaxDepth, func(literal string) any {
		if len(literal) > MaxDigits {
			broken = errDigits
		}
		return Number(literal)
	})
	if err == nil {
		err = broken
	}
	return v, err
}

// Number returns the number of a literal, in a form that is fast to compute with and is written as it was read.
func Number(literal string) any {
	if n, err := strconv.Atoi(literal); err == nil && literal != "-0" {
		return n
	}
	if len(literal) < 20 {
		if f, err := strconv.ParseFloat(literal, 64); err == nil && string(appendFloat(nil, f)) == literal {
			return f
		}
	}
	return json.Number(literal)
}

// Encode returns the JSON text of a value, or an error that wraps [ErrLimit] if it is longer than most bytes. Members
// are ordered by name, so equal values have equal texts.
func Encode(v any, most int) ([]byte, error) { return Append(nil, v, most) }

// Append appends the JSON text of a value, of at most the given number of bytes.
func Append(b []byte, v any, most int) ([]byte, error) {
	e := encoder{b: b, most: len(b) + most}
	if err := e.value(v, 0); err != nil {
		return b, err
	}
	return e.b, nil
}

// An encoder appends values. A small value can have a very large text, because its parts may be shared. The encoder
// stops when the text is too long.
type encoder struct {
	b    []byte
	most int
}

func (e *encoder) value(v any, depth int) error {
	if depth > MaxDepth {
		return errDepth
	}
	switch v := v.(type) {
	case nil:
		e.b = append(e.b, "null"...)
	case bool:
		e.b = strconv.AppendBool(e.b, v)
	case string:
		e.b = jsontext.AppendString(e.b, strings.ToValidUTF8(v, "\uFFFD"))
	case int:
		e.b = strconv.AppendInt(e.b, int64(v), 10)
	case float64:
		e.b = appendFloat(e.b, v)
	case json.Number:
		e.b = append(e.b, v...)
	case *big.Int:
		e.b = v.Append(e.b, 10)
	case []any:
		return e.array(v, depth)
	case map[string]any:
		return e.object(v, depth)
	default:
		return fmt.Errorf("jq: a %T is no JSON value", v)
	}
	return e.fits()
}

func (e *encoder) fits() error {
	if len(e.b) > e.most {
		return &limitError{fmt.Sprintf("the value is longer than %d bytes as JSON", e.most)}
	}
	return nil
}

func (e *encoder) array(v []any, depth int) error {
	e.b = append(e.b, '[')
	for i, element := range v {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		if err := e.value(element, depth+1); err != nil {
			return err
		}
	}
	e.b = append(e.b, ']')
	return e.fits()
}

func (e *encoder) object(v map[string]any, depth int) error {
	e.b = append(e.b, '{')
	for i, name := range slices.Sorted(maps.Keys(v)) {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = append(jsontext.AppendString(e.b, strings.ToValidUTF8(name, "\uFFFD")), ':')
		if err := e.value(v[name], depth+1); err != nil {
			return err
		}
	}
	e.b = append(e.b, '}')
	return e.fits()
}

// appendFloat writes a number as jq does: NaN as null, an infinite number as the largest number.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) {
		return append(b, "null"...)
	}
	f = min(max(f, -math.MaxFloat64), math.MaxFloat64)
	format := byte('f')
	if x := math.Abs(f); x != 0 && (x < 1e-6 || x >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}
